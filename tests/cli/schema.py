#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema.py PERFILE SOURCE [RECORDING...]: every output as JSON has a schema in doc/schema, which real outputs fit.

The validator knows the keywords that the schemas use, and refuses others. With recordings only these are read, instead of those of
the checkout.
"""
import copy, json, pathlib, re, shutil, struct, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

KINDS = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}
NOTES = {'$schema', 'title', 'description', '$defs'}
UNSIGNED = {'u32', 'u64', 'time', 'duration', 'bytes', 'address'}
ITEMS = {'addresses': 'address', 'texts': 'text'}

# The schema, and words for each kind of output: D is the folder tests/data, E is examples, T a temporary one.
OUTPUTS = [
    ('help', 'help --json'), ('table', 'table --format json'), ('row', 'table --format jsonl'),
    ('table', 'report --format json E/demo.perf.data'), ('row', 'report --format jsonl E/demo.perf.data'),
    ('table', 'report --format json --call-graph callee E/demo.perf.data'),
    ('table', 'annotate --format json D/two-events.perf.data'), ('row', 'annotate --format jsonl D/two-events.perf.data'),
    ('table', 'script --format json D/tracepoint.perf.data'), ('row', 'script --format jsonl D/tracepoint.perf.data'),
    ('table', 'sched latency --format json D/sched-tiny1.perf.data'), ('row', 'sched timehist --format jsonl D/sched-tiny2.perf.data'),
    ('table', 'offcpu --format json D/offcpu-cs.perf.data'), ('row', 'offcpu --format jsonl D/offcpu-cs.perf.data'),
    ('table', 'lock contention --format json D/lock.perf.data'), ('row', 'lock contention --format jsonl D/lock.perf.data'),
    ('table', 'kmem stat --format json D/kmem-slab.perf.data'), ('row', 'kmem stat --format jsonl D/kmem-slab.perf.data'),
    ('table', 'kvm --format json D/kvm-svm.perf.data'), ('row', 'kvm --format jsonl D/kvm-svm.perf.data'),
    ('table', 'kwork report --format json D/kwork.perf.data'), ('row', 'kwork report --format jsonl D/kwork.perf.data'),
    ('table', 'trace --format json D/trace-raw.perf.data'), ('row', 'trace --format jsonl D/trace-raw.perf.data'),
    ('table', 'mem report --format json D/mem-made.perf.data'), ('row', 'mem report --format jsonl D/mem-made.perf.data'),
    ('table', 'c2c report --format json D/mem-made.perf.data'), ('row', 'c2c accesses --format jsonl D/mem-made.perf.data'),
    ('table', 'diff --format json D/two-events.perf.data E/demo.perf.data'), ('row', 'diff --format jsonl D/two-events.perf.data E/demo.perf.data'),
    ('table', 'query --list --format json'), ('row', 'query --list --format jsonl'),
    ('table', 'dataset stats --format json T/set'), ('row', 'dataset stats --format jsonl T/set'), ('table', 'dataset check --format json T/set'),
    ('table', 'stat report --format json D/stat.perf.data'), ('row', 'stat report --format jsonl D/stat.perf.data'),
    ('perf-stat', 'stat report --format perf-json D/stat-interval.perf.data'), ('perf-stat', 'stat report --json-output -A D/stat-percpu.perf.data'),
    ('table', 'list --format json sw'), ('row', 'list --format jsonl sw'), ('perf-list', 'list --json sw'),
    ('table', 'buildid-list --format json E/demo.perf.data'), ('row', 'buildid-list --format jsonl E/demo.perf.data'),
    ('perf-data', 'data convert --to-json - D/tracepoint.perf.data'), ('perf-data', 'data convert --to-json - E/demo.perf.data'),
    ('row', 'info --format jsonl E/demo.perf.data'), ('row', 'check --format jsonl T/damaged.data'),
    ('dump', 'dump --format json --aux D/intel-pt.perf.data'), ('dump', 'dump --format json --max-bytes 8 D/words.perf.data'),
    ('check', 'check --format json -v T/damaged.data'), ('info', 'info --format json T/damaged.data'), ('info', 'info --format json T/no-events.data'),
    ('check', 'check --format json T/no-events.data'), ('dump', 'dump --format json T/damaged.data'),
    ('edit', 'repair --format json T/damaged.data -o T/1'), ('row', 'repair --format jsonl T/damaged.data -o T/2'),
    ('edit', 'convert --format json E/demo.perf.data -o T/3'), ('row', 'convert --format jsonl E/demo.perf.data -o T/4'),
    ('edit', 'inject --format json D/jit.perf.data -o T/5'), ('row', 'inject --format jsonl D/jit.perf.data -o T/6'),
    ('edit', 'cut --format json --samples 5 E/demo.perf.data -o T/7'), ('row', 'cut --format jsonl --samples 5 E/demo.perf.data -o T/8'),
    ('edit', 'cut --format json --split pid E/demo.perf.data -o T/9-%'),
    ('edit', 'anonymize --format json E/demo.perf.data -o T/10'), ('row', 'anonymize --format jsonl E/demo.perf.data -o T/11'),
    ('merge', 'merge --format json E/demo.perf.data E/workload.perf.data -o T/12'),
    ('row', 'merge --format jsonl E/demo.perf.data E/workload.perf.data -o T/13'),
]
# The same of every recording.
EACH = [('info', 'info --format json'), ('check', 'check --format json -v'), ('dump', 'dump --format json --max-bytes 64'), ('table', 'table meta --format json')]
LINES = {'check', 'dump', 'row', 'perf-stat'}
FORMATS_OF_OTHERS = {'export', 'pgo'}  # which their readers define

failures = []


def expect(fact, *what):
    if not fact:
        failures.append(what)
        if len(failures) < 50:
            print('---', *what)


# ---- the validator --------------------------------------------------------------------------------------------------


def is_integer(value):
    return not isinstance(value, bool) and (isinstance(value, int) or isinstance(value, float) and value.is_integer())


def is_kind(value, kind):
    if kind in ('integer', 'number'):
        return is_integer(value) or kind == 'number' and isinstance(value, float)
    return isinstance(value, KINDS[kind])


def same(value, other):
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def as_list(value):
    return value if isinstance(value, list) else [value]


class Schema:
    """check() returns what is wrong with a document: a list of (path, text)."""

    def __init__(self, root):
        self.root = root
        self.rules = {'type': self.type, 'enum': self.enum, 'const': lambda rule, *of: self.enum([rule], *of), '$ref': self.ref, 'oneOf': self.one_of,
                      'minimum': self.minimum, 'maximum': self.maximum, 'pattern': self.pattern, 'required': self.required, 'items': self.items,
                      'properties': self.properties, 'additionalProperties': lambda *of: []}

    def check(self, value, schema=None, path=''):
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            return [] if schema else [(path, 'is not allowed')]
        found = []
        for keyword, rule in schema.items():
            if keyword not in NOTES:
                found += self.rules[keyword](rule, value, path)
        return found + self.additional(schema, value, path)

    def type(self, rule, value, path):
        return [] if any(is_kind(value, kind) for kind in as_list(rule)) else [(path, f'is not of type {rule}')]

    def enum(self, rule, value, path):
        return [] if any(same(value, one) for one in rule) else [(path, f'is not one of {rule}')]

    def ref(self, rule, value, path):
        return self.check(value, self.root['$defs'][rule.removeprefix('#/$defs/')], path)

    def one_of(self, rule, value, path):
        results = [self.check(value, schema, path) for schema in rule]
        fitting = results.count([])
        return [] if fitting == 1 else min(results, key=len) or [(path, f'fits {fitting} of the alternatives')]

    def minimum(self, rule, value, path):
        return [(path, f'is below {rule}')] if is_kind(value, 'number') and value < rule else []

    def maximum(self, rule, value, path):
        return [(path, f'is above {rule}')] if is_kind(value, 'number') and value > rule else []

    def pattern(self, rule, value, path):
        return [(path, f'does not match {rule}')] if isinstance(value, str) and not re.search(rule, value) else []

    def required(self, rule, value, path):
        return [(path, f'has no {name}') for name in rule if isinstance(value, dict) and name not in value]

    def items(self, rule, value, path):
        return [one for i, item in enumerate(value if isinstance(value, list) else []) for one in self.check(item, rule, f'{path}/{i}')]

    def properties(self, rule, value, path):
        return [one for name, schema in rule.items() if isinstance(value, dict) and name in value
                for one in self.check(value[name], schema, f'{path}/{name}')]

    def additional(self, schema, value, path):
        others = set(value if isinstance(value, dict) else ()) - set(schema.get('properties', ()))
        return [one for name in sorted(others) for one in self.check(value[name], schema.get('additionalProperties', True), f'{path}/{name}')]


# ---- does it refuse what is wrong? ----------------------------------------------------------------------------------

# A schema, documents that fit, and documents that do not.
RULES = [
    ({'type': 'integer'}, [0, -1, 2**64 - 1, 1.0], [1.5, '1', True, None, []]),
    ({'type': 'number'}, [0, 1.5], [True, '1', None]),
    ({'type': ['string', 'null']}, ['', None], [0, False, {}]),
    ({'type': 'object', 'required': ['a']}, [{'a': None}], [{}, {'b': 1}, []]),
    ({'properties': {'a': {'type': 'string'}}}, [{}, {'a': ''}, 5], [{'a': 1}]),
    ({'properties': {'a': {}}, 'additionalProperties': False}, [{}, {'a': 1}], [{'b': 1}, {'a': 1, 'b': 1}]),
    ({'additionalProperties': {'type': 'boolean'}}, [{}, {'a': True}], [{'a': 1}]),
    ({'items': {'type': 'string'}}, [[], ['a'], 'a'], [[1], ['a', None]]),
    ({'enum': ['a', 1]}, ['a', 1], ['b', True, None]),
    ({'const': True}, [True], [1, False, 'true']),
    ({'minimum': 0}, [0, 5, 'x', 0.5], [-1, -0.5]),
    ({'maximum': 7}, [7, -1, '9'], [8, 7.5]),
    ({'pattern': '^a+$'}, ['aa', 5], ['', 'ab']),
    ({'oneOf': [{'type': 'integer'}, {'minimum': 5}]}, [1, 5.5], [5, 1.5]),
    ({'$ref': '#/$defs/t', '$defs': {'t': {'items': {'$ref': '#/$defs/t'}, 'type': 'array'}}}, [[], [[], [[]]]], [1, [[1]]]),
]


def check_validator():
    for schema, right, wrong in RULES:
        for document in right:
            expect(not Schema(schema).check(document), 'refused', schema, document)
        for document in wrong:
            expect(Schema(schema).check(document), 'not refused', schema, document)
    try:
        Schema({'maxLength': 5}).check('')
        expect(False, 'a keyword that is not known is not refused')
    except KeyError:
        pass


def parts_of(schema):
    """All schemas in a schema."""
    yield schema
    inner = [*schema.get('$defs', {}).values(), *schema.get('properties', {}).values(), *schema.get('oneOf', [])]
    for part in inner + [schema[name] for name in ('items', 'additionalProperties') if isinstance(schema.get(name), dict)]:
        yield from parts_of(part)


def check_schema(name, schema):
    expect(list(schema)[:3] == ['$schema', 'title', 'description'] and schema['$schema'].endswith('/2020-12/schema'), name, 'has another head')
    for part in parts_of(schema):
        unknown = set(part) - NOTES - set(Schema({}).rules)
        expect(not unknown, name, 'has keywords that are not known:', *unknown)
        expect(set(part.get('required', ())) <= set(part.get('properties', ())), name, 'requires members that it does not describe:', part)
        target = part.get('$ref', '').removeprefix('#/$defs/')
        expect(not target or target in schema.get('$defs', {}), name, 'has no', target)


def planted(schema, part, document):
    """Documents that are wrong: a member that is required is missing, or one has another type."""
    part = schema['$defs'][part['$ref'].removeprefix('#/$defs/')] if '$ref' in part else part
    if isinstance(document, list) and isinstance(part.get('items'), dict) and document:
        yield [{'wrong': object}]
        yield from ([wrong] for wrong in planted(schema, part['items'], document[0]))
    if not isinstance(document, dict):
        return
    for name in part.get('required', ()):
        yield {key: value for key, value in document.items() if key != name}
    for name in set(part.get('properties', ())) & set(document):
        yield {**document, name: object}


def check_refusals(name, schema, document):
    """Of a document that fits, each one made of it that is wrong."""
    alternatives = schema.get('oneOf', [schema])
    count = 0
    for part in alternatives:
        if len(alternatives) > 1 and Schema(schema).check(document, part):
            continue
        for wrong in planted(schema, part, copy.deepcopy(document)):
            count += 1
            expect(Schema(schema).check(wrong), name, 'does not refuse', str(wrong)[:200])
    return count


# ---- the outputs ----------------------------------------------------------------------------------------------------


def fits_type(value, kind):
    if value is None:
        return True
    if kind in ITEMS:
        return isinstance(value, list) and all(fits_type(one, ITEMS[kind]) for one in value)
    if kind in UNSIGNED:
        return is_kind(value, 'integer') and value >= 0
    return is_kind(value, {'bool': 'boolean', 'text': 'string', 'f64': 'number'}.get(kind, 'integer'))


def check_rows(words, table):
    """What a schema cannot describe: rows have the columns, and values are of their types."""
    kinds = [column['type'] for column in table['columns']]
    for row in table['rows']:
        expect(len(row) == len(kinds) and all(map(fits_type, row, kinds)), words, 'has a row that its columns do not describe:', row)


def documents_of(words, text, lines):
    try:
        return [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
    except ValueError as error:
        expect(False, words, 'is not JSON:', error, text[:100])
        return []


def check_output(perfile, schemas, name, words):
    """Runs the command; returns what it printed."""
    done = served.run([perfile, *words])
    expect(done.returncode in (0, 1), *words, 'failed:', done.stderr[-300:])
    documents = documents_of(words, done.stdout, name in LINES)
    for document in documents:
        for path, text in Schema(schemas[name]).check(document)[:3]:
            expect(False, *words, f'{name}.json: {path or "it"} {text}')
        if name == 'table':
            check_rows(words, document)
    return documents


def prepare(perfile, folder, examples):
    """A damaged recording, a stream of samples without their events, whose loss has no offset, and a dataset."""
    entire = (examples / 'demo.perf.data').read_bytes()
    middle = len(entire) // 2
    (folder / 'damaged.data').write_bytes(entire[:middle] + bytes(64) + entire[middle + 64:-5000])
    sample = struct.pack('<IHHQQ', 9, 2, 24, 0, 0)
    (folder / 'no-events.data').write_bytes(struct.pack('<8sQ', b'PERFILE2', 16) + 3 * sample)
    served.run([perfile, 'export', '--format', 'parquet', '--partition', 'host', '-o', str(folder / 'set'), str(examples / 'demo.perf.data')], check=True)


def check_covered(verbs):
    """All options that ask for JSON are in OUTPUTS or EACH, with the schema of their form."""
    has = {('jsonl', words.split()[0]) if '--format jsonl' in words else (word, words.split()[0])
           for _, words in OUTPUTS + EACH for word in words.split() if 'json' in word}
    for verb in verbs:
        for option in verb['options']:
            known = [value['value'] for value in option.get('values', [])] if option['name'] == '--format' else [option['name']]
            for one in known:
                expect('json' not in one or verb['name'] in FORMATS_OF_OTHERS or (one, verb['name']) in has, verb['name'], one, 'has no schema')


def check_list(folder, schemas, used):
    """README.md has a row for each, and outputs fit each."""
    rows = set(re.findall(r'^\| `([\w-]+)\.json` \|', (folder / 'README.md').read_text(), re.MULTILINE))
    expect(rows == set(schemas), 'doc/schema/README.md', rows ^ set(schemas))
    expect(used == set(schemas), 'without an output:', set(schemas) - used)


def check_all(perfile, source, schemas, folder):
    places = {'D': source / 'tests/data', 'E': source / 'examples', 'T': folder}
    prepare(perfile, folder, places['E'])
    used, refused = set(), 0
    for name, words in OUTPUTS:
        command = [re.sub('^([DET])/', lambda found: f'{places[found[1]]}/', word) for word in words.split()]
        documents = check_output(perfile, schemas, name, command)
        expect(documents, words, 'printed nothing')
        if documents and name not in used:
            refused += check_refusals(name, schemas[name], documents[0])
            refused += check_refusals(name, schemas[name], documents[-1])
        used.add(name)
    expect(refused > 200, 'wrong documents:', refused)
    check_covered(check_output(perfile, schemas, 'help', ['help', '--json'])[0]['verbs'])
    check_list(source / 'doc/schema', schemas, used)


def check_views(perfile, schemas, recording):
    for row in check_output(perfile, schemas, 'row', ['table', '--format', 'jsonl']):
        check_output(perfile, schemas, 'table', ['table', row['view'], '--format', 'json', str(recording)])


def main():
    hermetic.settle()
    perfile, source = sys.argv[1], pathlib.Path(sys.argv[2])
    recordings = sys.argv[3:] or sorted(map(str, [*(source / 'tests/data').glob('*.perf.data'), *(source / 'examples').glob('*.perf.data')]))
    schemas = {path.stem: json.loads(path.read_text()) for path in sorted((source / 'doc/schema').glob('*.json'))}
    check_validator()
    for name, schema in schemas.items():
        check_schema(name, schema)
    if not sys.argv[3:]:
        folder = pathlib.Path(tempfile.mkdtemp())
        check_all(perfile, source, schemas, folder)
        check_views(perfile, schemas, source / 'examples/demo.perf.data')
        shutil.rmtree(folder)
    for recording in recordings:
        for name, words in EACH:
            check_output(perfile, schemas, name, [*words.split(), recording])
    print(f'{len(schemas)} schemas, {len(recordings)} recordings, {len(failures)} failures')
    return 1 if failures else 0


sys.exit(main())
