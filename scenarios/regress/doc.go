// Package regress runs schedules that failed once. Each is in testdata, made small by stet sim shrink
// --regress, and has to pass; those that were made of a bug put back on purpose have to fail again
// with it.
package regress
