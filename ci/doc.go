// Package ci tests the scripts that run on the machines of continuous integration: the workflows
// only call them, so that what fails there can be run here.
package ci
