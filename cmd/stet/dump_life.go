package main

import (
	"encoding/hex"
	"os"
	"path/filepath"

	"stet/core/commitlog"
)

// dumpLife prints a clean-start marker or the file that names the last life of a directory. Of a
// marker it says whether the next start would believe it, judged by the files around it.
func dumpLife(p *printer, path string, _ *dumpFlags) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	life, err := commitlog.DecodeLife(b)
	if err != nil {
		return err
	}
	pairs := []any{
		"bootId", life.BootID, "incarnation", hex.EncodeToString(life.Incarnation[:]),
		"directoryId", life.DirectoryID, "livesBefore", len(life.Before),
	}
	if filepath.Base(path) == filepath.Base(commitlog.CleanMarkerName) {
		pairs = append(pairs, "holds", true)
		if err := checkMarkerAt(path, b); err != nil {
			pairs[len(pairs)-1] = false
			pairs = append(pairs, "why", err.Error())
		}
	}
	p.line(pairs...)
	return nil
}

// checkMarkerAt judges the marker at path as a start would.
func checkMarkerAt(path string, marker []byte) error {
	dir := filepath.Dir(path)
	life, err := os.ReadFile(filepath.Join(dir, filepath.Base(commitlog.LifeName)))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), commitlog.MetaPropertiesName))
	if err != nil {
		return err
	}
	meta, err := commitlog.DecodeMetaProperties(text)
	if err != nil {
		return err
	}
	return commitlog.CheckCleanMarker(marker, life, meta.DirectoryID)
}
