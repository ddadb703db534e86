// Package show has the commands of rnt that show what files hold: ls, schema, cat, head, tail,
// stat, dump and attrs.
package show
