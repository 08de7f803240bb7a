// SPDX-License-Identifier: MIT

package perfile

/*
#include <stdlib.h>
#include <perfile/table.h>

static int open_table(struct perfile_reader *reader, const char *view, const char *columns,
                      struct perfile_table **table, struct perfile_error *error)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;

    options.columns = *columns ? columns : NULL;
    return perfile_table_open(reader, view, &options, table, error);
}

static void release_array(struct ArrowArray *array)
{
    if (array->release)
        array->release(array);
}

static void release_schema(struct ArrowSchema *schema)
{
    if (schema->release)
        schema->release(schema);
}
*/
import "C"

import "unsafe"

// Table is a view as typed columns.
type Table struct {
	pointer *C.struct_perfile_table
	reader  *Reader
	Columns []string // names of those that are shown
	formats []string // as the Arrow C data interface writes types; of lists with that of the items
}

// Table opens a view such as "samples"; columns "" are those that are shown by default. The reader must be at its start,
// and is the table's until that is closed.
func (r *Reader) Table(view, columns string) (*Table, error) {
	var failure C.struct_perfile_error
	if err := r.usable(); err != nil {
		return nil, err
	}
	name, list := C.CString(view), C.CString(columns)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(list))
	table := &Table{reader: r}
	if code := C.open_table(r.pointer, name, list, &table.pointer, &failure); code < 0 {
		return nil, failed(code, &failure)
	}
	r.lent = true
	if err := table.findColumns(); err != nil {
		table.Close()
		return nil, err
	}
	return table, nil
}

// Close ends the table. It may be called twice.
func (t *Table) Close() {
	if t.pointer != nil {
		C.perfile_table_close(t.pointer)
		t.pointer, t.reader.lent = nil, false
	}
}

func (t *Table) findColumns() error {
	var failure C.struct_perfile_error
	schema := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	defer C.free(unsafe.Pointer(schema))
	if code := C.perfile_table_schema(t.pointer, schema, &failure); code < 0 {
		return failed(code, &failure)
	}
	defer C.release_schema(schema)
	for _, child := range unsafe.Slice(schema.children, int(schema.n_children)) {
		t.Columns = append(t.Columns, text(child.name))
		t.formats = append(t.formats, formatOf(child))
	}
	return nil
}

func formatOf(schema *C.struct_ArrowSchema) string {
	if schema.dictionary != nil {
		return formatOf(schema.dictionary)
	}
	format := text(schema.format)
	if schema.n_children > 0 {
		format += formatOf(*schema.children)
	}
	return format
}

// Next reads the next rows, or nil at the end. A value is nil, a bool, an int64, a uint64, a float64, a string or a
// list of these.
func (t *Table) Next() ([][]any, error) {
	var failure C.struct_perfile_error
	if t.pointer == nil {
		return nil, errClosed
	}
	batch := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(batch))
	code := C.perfile_table_next(t.pointer, batch, &failure)
	if code < 0 {
		return nil, failed(code, &failure)
	}
	if code == 0 {
		return nil, nil
	}
	defer C.release_array(batch)
	rows := make([][]any, int(batch.length))
	for i := range rows {
		rows[i] = make([]any, len(t.formats))
	}
	for column, array := range unsafe.Slice(batch.children, len(t.formats)) {
		values := newColumn(array, t.formats[column])
		for i := range rows {
			rows[i][column] = values.at(i)
		}
	}
	return rows, nil
}

// column is an array of the Arrow C data interface; texts of a dictionary are copied once.
type column struct {
	array   *C.struct_ArrowArray
	format  string
	buffers []unsafe.Pointer
	items   *column // of lists
	texts   []any   // of a dictionary
}

func newColumn(array *C.struct_ArrowArray, format string) *column {
	made := &column{array: array, format: format, buffers: unsafe.Slice(array.buffers, int(array.n_buffers))}
	if array.dictionary != nil {
		texts := newColumn(array.dictionary, "u")
		for i := 0; i < int(array.dictionary.length); i++ {
			made.texts = append(made.texts, texts.at(i))
		}
	} else if len(format) > 2 && format[:2] == "+l" {
		made.items = newColumn(*array.children, format[2:])
	}
	return made
}

func (c *column) bit(buffer, row int) bool {
	return *(*byte)(unsafe.Add(c.buffers[buffer], row/8))>>(row%8)&1 != 0
}

func (c *column) int32At(row int) int { return int(*(*int32)(unsafe.Add(c.buffers[1], 4*row))) }

func (c *column) wide(row int) unsafe.Pointer { return unsafe.Add(c.buffers[1], 8*row) }

func (c *column) at(row int) any {
	if c.buffers[0] != nil && !c.bit(0, row) {
		return nil
	}
	switch {
	case c.texts != nil || c.array.dictionary != nil:
		return c.texts[c.int32At(row)]
	case c.items != nil:
		list := []any{}
		for i := c.int32At(row); i < c.int32At(row+1); i++ {
			list = append(list, c.items.at(i))
		}
		return list
	}
	switch c.format {
	case "u":
		from, to := c.int32At(row), c.int32At(row+1)
		return C.GoStringN((*C.char)(unsafe.Add(c.buffers[2], from)), C.int(to-from))
	case "b":
		return c.bit(1, row)
	case "g":
		return *(*float64)(c.wide(row))
	case "i":
		return int64(c.int32At(row))
	case "I":
		return uint64(uint32(c.int32At(row)))
	case "L":
		return *(*uint64)(c.wide(row))
	}
	return *(*int64)(c.wide(row)) // "l", and times of 64 bits
}
