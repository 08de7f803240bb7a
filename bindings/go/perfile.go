// SPDX-License-Identifier: MIT

// Package perfile reads Linux perf.data files with libperfile: records, samples with resolved stacks, profiles, tables.
//
//	reader, err := perfile.Open("perf.data")
//	...
//	defer reader.Close()
//	profile, err := reader.Profile("")
//
// A Reader belongs to one goroutine at a time. What is read from it is copied, so that it stays valid, unless its
// comment says otherwise. Everything that is opened has to be closed; a Stream or a Table before its Reader.
package perfile

/*
#cgo pkg-config: perfile-analysis
#include <stdlib.h>
#include <perfile/table.h>

*/
import "C"

import (
	"errors"
	"unsafe"
)

// Error is why a call failed.
type Error struct {
	Code    int // such as C.PERFILE_ERROR_OPEN, see the header perfile.h
	Message string
	Offset  uint64 // where in the recording; NoOffset
}

// NoOffset is the offset of what has no position in the recording.
const NoOffset = ^uint64(0)

// NoID is the number of what does not exist.
const NoID = ^uint32(0)

func (e *Error) Error() string { return e.Message }

var errClosed = errors.New("perfile: it was closed, or a stream or a table that was not closed still reads the recording")

func failed(code C.int, from *C.struct_perfile_error) error {
	return &Error{int(code), C.GoString(&from.message[0]), uint64(from.offset)}
}

// Version is that of the library.
func Version() string { return C.GoString(C.perfile_version()) }

// Reader is a recording that is open for reading.
type Reader struct {
	pointer *C.struct_perfile_reader
	lent    bool
}

// Open opens a file, a pipe or a directory; "-" is standard input.
func Open(path string) (*Reader, error) {
	var failure C.struct_perfile_error
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	reader := &Reader{}
	if code := C.perfile_open_path(name, nil, &reader.pointer, &failure); code < 0 {
		return nil, failed(code, &failure)
	}
	return reader, nil
}

// Close closes the recording. It may be called twice.
func (r *Reader) Close() {
	if r.pointer != nil && !r.lent {
		C.perfile_close(r.pointer)
		r.pointer = nil
	}
}

// Events has the names of what was counted.
func (r *Reader) Events() []string {
	var names []string
	if r.pointer == nil {
		return nil
	}
	for i := C.size_t(0); i < C.perfile_event_count(r.pointer); i++ {
		names = append(names, C.GoString(C.perfile_event_get(r.pointer, i).name))
	}
	return names
}

// Rewind goes back to the start, for another pass.
func (r *Reader) Rewind() error {
	var failure C.struct_perfile_error
	if err := r.usable(); err != nil {
		return err
	}
	if code := C.perfile_reader_rewind(r.pointer, &failure); code < 0 {
		return failed(code, &failure)
	}
	return nil
}

// Record is a record of the file.
type Record struct {
	Type   uint32 // PERF_RECORD_*
	Offset uint64
	Bytes  []byte // as in the recording, header included
}

// Next reads the next record, or nil at the end. Damage is skipped.
func (r *Reader) Next() (*Record, error) {
	var failure C.struct_perfile_error
	var record *C.struct_perfile_record
	if err := r.usable(); err != nil {
		return nil, err
	}
	code := C.perfile_reader_next(r.pointer, &record, &failure)
	if code <= 0 {
		if code < 0 {
			return nil, failed(code, &failure)
		}
		return nil, nil
	}
	bytes := C.GoBytes(unsafe.Pointer(record.data), C.int(record.bytes))
	return &Record{uint32(record._type), uint64(record.offset), bytes}, nil
}

func (r *Reader) usable() error {
	if r.pointer == nil || r.lent {
		return errClosed
	}
	return nil
}

func text(from *C.char) string {
	if from == nil {
		return ""
	}
	return C.GoString(from)
}
