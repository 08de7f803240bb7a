#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools/embed.c leaves of scripts and style sheets: embed.py EMBED"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SCRIPT = r'''/* SPDX-License-Identifier: MIT */
/*
 * Several lines, with `one ` and "another.
 */
const a = 1; // after
  const text = "/* stays */" + '// stays' + "\"/*";   /* goes */

    // alone
const url = `https://x/${ { a: `/* in ${a /* goes */} */` }.a }/* stays */
   indented`;
const found = /[/*"]\/\*'/.test(text), half = (4 / 2) / a, more = [4][0] / 2 /* goes */ / 1;
const kept = a + +half - -a, numbers = half ? .5 : 1, words = "in" in { in: [1 ,  2] };
function regexp() { return /"/.source + /`/.source; }
'''
SCRIPT_LEFT = r'''/* SPDX-License-Identifier: MIT */
const a=1;
const text="/* stays */" + '// stays' + "\"/*";
const url=`https://x/${{a:`/* in ${a } */`}.a}/* stays */
   indented`;
const found=/[/*"]\/\*'/.test(text),half=(4 / 2)/ a,more=[4][0]/ 2  / 1;
const kept=a + +half - -a,numbers=half?.5:1,words="in" in{in:[1,2]};
function regexp(){return /"/.source + /`/.source;}
'''
STYLE = 'a { b: url(//x); }\n/* goes\n   too */\n  i::after { content: "/* stays */"; } /* goes */\n'
STYLE_LEFT = 'a{b: url(//x);}\ni::after{content: "/* stays */";}\n'


def string_of(source, name):
    """The bytes of the C string."""
    literals = source.split(f'const char pf_embedded_{name}[] =\n', 1)[1].split(';\n\n')[0]
    joined = ''.join(re.findall(r'^ *"(.*)";?$', literals, re.MULTILINE))
    return re.sub(r'\\([0-7]{3}|.)', lambda found: {'n': '\n'}.get(found[1], found[1]) if len(found[1]) == 1
                  else chr(int(found[1], 8)), joined)


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory(prefix='perfile-embed-') as name:
        folder = pathlib.Path(name)
        (folder / 'a.js').write_text(SCRIPT)
        (folder / 'a.css').write_text(STYLE)
        subprocess.run([sys.argv[1], folder / 'out.c', folder / 'a.js', folder / 'a.css'], check=True)
        made = (folder / 'out.c').read_text()
    wrong = 0
    for extension, wanted in (('js', SCRIPT_LEFT), ('css', STYLE_LEFT)):
        seen = string_of(made, extension)
        if seen != wanted:
            wrong = 1
            print(f'{extension}: wanted\n{wanted}\nseen\n{seen}')
    return wrong


if __name__ == '__main__':
    sys.exit(main())
