// Package credential finds what proves to servers who the user is, and what proves to the user who
// they are: tokens and certificates, where the environment says that they are.
package credential
