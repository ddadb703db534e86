// Package credential finds the user's tokens and certificates, and the certificates of trusted
// authorities, at the locations given by the environment.
package credential
