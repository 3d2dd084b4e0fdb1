import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNeeds, type Need, type NeedySkill } from './needs.ts';

async function needs(files: Record<string, string>, skill: Partial<NeedySkill> = {}) {
	const names = Object.keys(files);
	const full = {
		metadata: {},
		extra: {},
		body: '',
		files: names,
		scripts: names.filter((name) => !/\.(txt|toml|json)$/.test(name))
	};
	const found = await findNeeds({ ...full, ...skill }, async (path) => files[path] ?? null);
	const print = (list: Need[]) => list.map(({ name, isDeclared }) => (isDeclared ? `${name}!` : name));
	return {
		binaries: print(found.binaries),
		packages: print(found.packages),
		hosts: print(found.hosts),
		variables: print(found.variables),
		optional: found.variables.filter(({ isOptional }) => isOptional).map(({ name }) => name)
	};
}

describe('A18: declared', () => {
	test.each<[string, Partial<NeedySkill>]>([
		['metadata.env', { metadata: { env: 'A_KEY, lower' } }],
		['env as a list', { extra: { env: ['A_KEY', 'lower'] } }],
		['env with descriptions', { extra: { env: { A_KEY: 'for the service', lower: {} } } }],
		['requires.env', { extra: { requires: { env: [{ name: 'A_KEY' }, 'lower'] } } }],
		['metadata.requires', { extra: { 'metadata.requires': { env: 'A_KEY lower' } } }],
		['metadata.openclaw', { extra: { 'metadata.openclaw': { requires: { env: ['A_KEY', 'lower'] } } } }],
		['metadata.clawdbot', { extra: { 'metadata.clawdbot': { envVars: [{ name: 'A_KEY' }, { name: 'lower' }] } } }]
	])('%s names variables', async (_name, skill) => {
		expect((await needs({}, skill)).variables).toEqual(['A_KEY!', 'lower!']);
	});

	test.each<[string, Partial<NeedySkill>]>([
		['NAME?', { metadata: { env: 'A_KEY B_KEY?, C_KEY?' } }],
		['a list', { extra: { env: ['A_KEY', 'B_KEY?', { name: 'C_KEY', optional: 'true' }] } }],
		['a record', { extra: { env: { A_KEY: 'needed', B_KEY: { required: 'false' }, 'C_KEY?': 'wished for' } } }],
		['twice', { metadata: { env: 'A_KEY? C_KEY? B_KEY?' }, extra: { requires: { env: ['A_KEY', 'B_KEY?'] } } }]
	])('A18: %s says which variables it runs without; what is required anywhere is required', async (_name, skill) => {
		const { variables, optional } = await needs({}, skill);
		expect(variables.toSorted()).toEqual(['A_KEY!', 'B_KEY!', 'C_KEY!']);
		expect(optional.toSorted()).toEqual(['B_KEY', 'C_KEY']);
	});

	test('requires names programs and Python packages, in their index’s plain form', async () => {
		const extra = { requires: { bins: ['jq', 'my-tool'], python: ['PyYAML>=6', 'requests[socks]', 'scikit-learn'] } };
		expect(await needs({}, { extra })).toEqual({
			binaries: ['jq!', 'my-tool!'],
			packages: ['pyyaml!', 'requests!', 'scikit-learn!'],
			hosts: [],
			variables: [],
			optional: []
		});
	});

	test('the settings of another client name programs; of several that do, none is a must', async () => {
		const extra = { 'metadata.openclaw': { emoji: '🦞', requires: { bins: ['jq'], anyBins: ['bun', 'deno'] } } };
		expect((await needs({}, { extra })).binaries).toEqual(['jq!', 'bun', 'deno']);
		const nonsense = { 'metadata.a': { requires: 'jq' }, 'metadata.b': { requires: [['jq']] }, 'metadata.c': 'jq' };
		expect((await needs({}, { extra: nonsense })).binaries).toEqual([]);
	});

	test('compatibility names programs; words that are no programs are passed over', async () => {
		const compatibility =
			'Requires Python 3.10+, Docker, git, and jq. Make sure to go online; see https://git.example.org.';
		expect((await needs({}, { compatibility })).binaries).toEqual(['python3!', 'docker!', 'git!', 'jq!']);
	});

	test('requirements.txt and the dependencies in a script (PEP 723)', async () => {
		const text =
			'# a comment\nPillow==10.1 ; python_version > "3"\n-r more.txt\ngit+https://x.example/y\npython-docx\n\n';
		const script =
			'# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "httpx[http2]<1", # for it\n#   \'rich\',\n# ]\n# ///\nimport httpx\n';
		expect((await needs({ 'requirements.txt': text, 'a.py': script })).packages).toEqual([
			...['pillow!', 'python-docx!', 'httpx!', 'rich!']
		]);
	});

	test('nonsense declares nothing', async () => {
		const extra = { env: 7, requires: [['x']], 'metadata.requires': { env: { '../x': 1 }, bins: ['a b', '$(x)', ''] } };
		expect(await needs({}, { metadata: { env: '__ A=B ../x' }, extra })).toEqual({
			binaries: [],
			packages: [],
			hosts: [],
			variables: ['__!'],
			optional: []
		});
	});
});

describe('A18: variables found', () => {
	test('in JavaScript: read, not assigned, not the usual ones', async () => {
		const text = `
			const { A_KEY, b_key: key = 1 } = process.env;
			fetch(process.env.C_KEY, process.env["D_KEY"] ?? process.env.NODE_ENV, Deno.env.get('E_KEY'));
			if (process.env.F_KEY === '1') process.env.G_KEY = 'x';
			process.env.PATH + process.env.HOME + process.env.CI`;
		expect((await needs({ 'a.mjs': text })).variables).toEqual(['A_KEY', 'C_KEY', 'D_KEY', 'E_KEY', 'F_KEY', 'b_key']);
	});
	test('in Python', async () => {
		const text = `
os.environ["A_KEY"]; os.environ.get('B_KEY', ''); os.getenv( "C_KEY")
os.environ["D_KEY"] = "x"
environ['E_KEY'] == 1; os.environ["PYTHONPATH"]`;
		expect((await needs({ 'a.py': text })).variables).toEqual(['A_KEY', 'B_KEY', 'C_KEY', 'E_KEY']);
	});
	test('in shell: neither assigned before nor with a default nor escaped; secrets in any case', async () => {
		const text = `#!/bin/bash
# $NOT_THIS
MY_DIR=x; echo "$MY_DIR \${SOME_URL} \${OTHER_URL:-http://x} \${API_TOKEN:-} \\$NOT_ME $lower $UPPER $1 \${#LIST_X}"
for ONE_FILE in *; do echo "$ONE_FILE"; done
while read -r NEXT_LINE; do echo $NEXT_LINE; done
curl -H "Authorization: $TOKEN" "\${MUST_BE:?set it}" $LATER_SET
LATER_SET=1
export FROM_HERE=1; echo $FROM_HERE $BASH_SOURCE $LC_ALL`;
		expect((await needs({ 'a.sh': text })).variables).toEqual([
			'API_TOKEN',
			'LATER_SET',
			'MUST_BE',
			'SOME_URL',
			'TOKEN'
		]);
	});
	test('in the instructions: secrets in code marks, exports, and commands', async () => {
		const body =
			'Set `WEATHER_API_KEY` (or `$OTHER_TOKEN`), not `SOME_FLAG` or A_SECRET.\n\n```bash\nexport THIRD_SECRET=your-own\ncurl "$BASE_URL"\n```\n\n```python\nos.getenv("FOURTH")\n```\n\n```text\n$NOT_THIS\n```';
		expect((await needs({}, { body })).variables).toEqual([
			...['BASE_URL', 'FOURTH', 'OTHER_TOKEN', 'THIRD_SECRET', 'WEATHER_API_KEY']
		]);
	});
	test('what is declared is not found again, and comes first', async () => {
		expect(
			(await needs({ 'a.py': 'os.environ["Z_KEY"], os.environ["A_KEY"]' }, { metadata: { env: 'Z_KEY' } })).variables
		) //
			.toEqual(['Z_KEY!', 'A_KEY']);
	});
});

test('D47: Python modules are those imported that are neither Python’s own nor the skill’s', async () => {
	const text = `"""
import the_prose
"""
import os, sys, json as j, requests , yaml as y  # import nothing
from pandas.core import frame
from . import sibling
    import indented; x = 1
import the whole thing
from helpers.text import cut
import local_file
__import__('dynamic')`;
	const found = await needs({ 'scripts/a.py': text, 'scripts/helpers/text.py': '', 'scripts/local_file.py': '' });
	expect(found.packages).toEqual(['indented', 'pandas', 'pyyaml', 'requests']);
});

test('A18: programs are found where commands stand, and where they are asked for', async () => {
	const shell = `#!/usr/bin/env bash
# pandoc is not used
command -v mytool >/dev/null || exit 1
which "other-tool"
  cat x | jq . && ffmpeg -i a b; if git status; then echo curl wget; fi
tar=1; x=$(yq . y)`;
	const python = `
subprocess.run(["pandoc", "-o", x]); os.system("pdftotext a b"); shutil.which("some-tool"); app.run("unknown")`;
	const node = `execFileSync('magick', []); spawn(\`rg\`, a); exec("unheard-of")`;
	const found = await needs({ 'a.sh': shell, 'b.py': python, 'c.js': node, run: '#!/usr/bin/env python3\n' });
	expect(found.binaries.join(' ')).toBe(
		'bash ffmpeg git jq magick mytool node other-tool pandoc pdftotext python3 rg some-tool yq'
	);
});

test('A18: any text is read without an error, and names come out that are names', async () => {
	const piece = fc.oneof(
		fc.string(),
		fc.constantFrom(
			'process.env',
			'$',
			'${',
			'"""',
			"'''",
			'[',
			'{',
			'\n',
			'import ',
			'from ',
			'#',
			'`',
			'=',
			'A_KEY',
			'```sh\n'
		)
	);
	await fc.assert(
		fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
			const text = pieces.join('');
			const found = await needs({ 'a.py': text, 'b.sh': text, 'c.js': text, 'requirements.txt': text }, { body: text });
			for (const name of Object.values(found).flat()) expect(name).toMatch(/^[\w.+@/*:~-]{1,253}!?$/);
		})
	);
});

test('A18: a hostile text of 128 KB is read in time that does not grow with its square', async () => {
	const hostile = [
		'{',
		'process.env[',
		'"""',
		'$',
		' ',
		'import ',
		'# /// script\n',
		'[ \t',
		'read -r ',
		'`A',
		'\t',
		"'''\n",
		'a.',
		'```\n',
		'/*',
		'//',
		'import ',
		'import x from ',
		'https://a.',
		'curl ',
		'pip install ',
		'pip install -r ',
		'require(',
		'[project]\n',
		'[',
		'{"dependencies":',
		'# dependencies = [\n',
		'environ.get("A"',
		'cat <<A\n',
		'<<A <',
		'`\\`',
		'= /[',
		'/a',
		'"\\',
		'for a in b ',
		'args = ["',
		'except ImportError:\n\t',
		'from google import (',
		'import {',
		';import ',
		'!process.env.A?.b',
		'python -m ',
		'`npm i `'
	];
	for (const piece of hostile) {
		const text = piece.repeat(Math.floor((128 * 1024) / piece.length));
		await needs(
			{
				...{ 'a.py': text, 'b.sh': text, 'c.js': text, 'requirements.txt': text },
				...{ 'pyproject.toml': text, 'package.json': text }
			},
			{ body: `${text}\n\`\`\`js\n${text}`, compatibility: text }
		);
	}
});

test('A18: no more than 40 scripts of 128 KB are read, and no more than 64 names come out', async () => {
	const asked: [string, number][] = [];
	const scripts = Array.from({ length: 100 }, (_, index) => `${index}.py`);
	const names = Array.from({ length: 100 }, (_, index) => `os.environ["KEY_${index}"]`).join('\n');
	const skill = { metadata: {}, extra: {}, body: '', files: scripts, scripts };
	const { variables } = await findNeeds(skill, async (path, maxBytes) => {
		asked.push([path, maxBytes]);
		return names;
	});
	expect(asked).toHaveLength(40);
	expect(new Set(asked.map(([, bytes]) => bytes))).toEqual(new Set([128 * 1024]));
	expect(variables).toHaveLength(64);
});

describe('A18: packages found', () => {
	test('pyproject.toml and package.json, as their index is asked for them; never an address or a path', async () => {
		const pyproject = `[project]
name = "x"
dependencies = ["Python_Docx >= 1.1, <2", 'a[b] ; python_version < "4"', "pywin32; sys_platform == 'win32'", "c @ https://evil.example/c.whl", 7]
[tool.other]
dependencies = ["not-this"]`;
		const dependencies = {
			'left-pad': '^1.3.0',
			'@scope/x': '*',
			a: 'file:../a',
			b: 'git+https://evil.example/b.git',
			c: 'npm:evil@1',
			'../d': '1',
			e: 1
		};
		const files = {
			'pyproject.toml': pyproject,
			'scripts/package.json': JSON.stringify({ dependencies, devDependencies: { f: '1' } }),
			'templates/package.json': JSON.stringify({ dependencies: { g: '1' } })
		};
		const skill = { metadata: {}, extra: {}, body: '', files: Object.keys(files), scripts: [] };
		const { packages } = await findNeeds(skill, async (path) => files[path as keyof typeof files]);
		expect(packages.map(({ ecosystem, requirement, from }) => [ecosystem, requirement, ...from])).toEqual([
			['python', 'python-docx>=1.1,<2', 'pyproject.toml'],
			['python', 'a[b]; python_version < "4"', 'pyproject.toml'],
			['javascript', 'left-pad@^1.3.0', 'scripts/package.json'],
			['javascript', '@scope/x', 'scripts/package.json']
		]);
	});

	test('JavaScript: what is imported or required, but no file, nothing of Node and no type', async () => {
		const text = `import a, {
	b
} from 'pkg-a/sub';
import type { T } from 'pkg-types'; import './own.mjs'; import 'pkg-b'; export * from "@scope/c/d";
// import 'commented'
/* require('commented') */
const { x } = require("pkg-d"); await import('pkg-e'); import('https://x.example/y.js'); import '#own'; import '@/own';
import fs from 'node:fs'; import path from 'path'; foo.require('not-this'); require(name);`;
		const { packages } = await needs({ 'a.mjs': text });
		expect(packages).toEqual(['@scope/c', 'pkg-a', 'pkg-b', 'pkg-d', 'pkg-e']);
	});

	test('a module is named by the package that brings it; one that is declared already is not found again', async () => {
		const text =
			'import cv2, docx.shared, fitz, jwt\nfrom google.cloud.storage import x\nfrom google.genai import y\nimport uno';
		expect((await needs({ 'a.py': text })).packages).toEqual([
			...['google-cloud-storage', 'google-genai', 'opencv-python', 'pyjwt', 'pymupdf', 'python-docx']
		]);
		const declared = {
			'requirements.txt': 'opencv-python-headless==4.9\npython-docx\n',
			'scripts/a.py': 'import cv2, docx'
		};
		const skill = { metadata: {}, extra: {}, body: '', files: Object.keys(declared), scripts: ['scripts/a.py'] };
		const { packages } = await findNeeds(skill, async (path) => declared[path as keyof typeof declared]);
		expect(packages.map(({ requirement, from }) => [requirement, from])).toEqual([
			['opencv-python-headless==4.9', ['requirements.txt', 'scripts/a.py']],
			['python-docx', ['requirements.txt', 'scripts/a.py']]
		]);
	});

	test('in the instructions: imports in code, and what is to be installed', async () => {
		const body =
			'```python\nfrom pypdf import PdfReader\n```\n```js\nconst d = require("docx")\n```\nimport nothing\n' +
			'```bash\npip install "pdfplumber>=0.11" -r more.txt --user reportlab\nnpm install -g docx-cli\nnpm run build && npm install\n```\n';
		expect((await needs({}, { body })).packages).toEqual(['docx', 'docx-cli', 'pdfplumber', 'pypdf', 'reportlab']);
	});
});

describe('A18: hosts found', () => {
	test('addresses and clients in code; not in comments, not put together, not what nobody reaches', async () => {
		const python = `"""See https://docs-string.io/."""
import openai, requests
# https://comment.io
requests.get("https://api.open-meteo.com/v1/forecast?x=1"); HTTPSConnection("plain.io")
x = f"https://{region}.built.io/" + "https://api.%s.io" + "http://localhost:80" + "http://127.0.0.1/" + "https://example.com"
NS = "http://schemas.openxmlformats.org/a" + "http://www.w3.org/2001/x" + "https://json-schema.org/y" + "https://docs.a.io/z"`;
		const javascript = `fetch(\`https://b.io:8443/x\`); fetch("https://b.io:443/x"); https.get({ hostname: 'c.io', headers: { 'user-agent': 'Bot (https://d.io), Crawler/2 (+https://e.io)' } }) // https://comment.io`;
		const shell =
			'curl -s "wttr.in/London?format=3" # https://comment.io\ncurl -o out.json https://Upper.IO./x | jq .a/b';
		const found = await needs({ 'a.py': python, 'b.mjs': javascript, 'c.sh': shell });
		expect(found.hosts).toEqual([
			...['api.open-meteo.com', 'api.openai.com', 'b.io', 'b.io:8443', 'c.io', 'plain.io', 'upper.io', 'wttr.in']
		]);
	});

	test('an example host counts where a script connects to it, not in help, comments or instructions', async () => {
		const python = `import urllib.request
p.add_argument("--url", default="https://a.example.com", help="such as https://b.example.com")
# urlopen("https://c.example.com")
BASE = "https://d.example.com/v1"
urllib.request.urlopen("https://e.example.com/x")`;
		const files = { 'a.py': python, 'b.sh': 'curl -s https://f.example.org/x\necho https://g.example.org' };
		const body = '```bash\ncurl https://h.example.com/x\n```\n```python\nurlopen("https://i.example.com")\n```\n';
		const { hosts } = await needs(files, { body });
		expect(hosts).toEqual(['d.example.com', 'e.example.com', 'f.example.org']);
	});

	test('a host that a declared one covers is not found again, and is said where it was', async () => {
		const skill = {
			metadata: { network: '*.open-meteo.com' },
			extra: {},
			body: '',
			files: ['a.py'],
			scripts: ['a.py']
		};
		const { hosts } = await findNeeds(skill, async () => 'get("https://api.open-meteo.com/")');
		expect(hosts).toEqual([{ name: '*.open-meteo.com', isDeclared: true, from: ['metadata.network', 'a.py'] }]);
	});
});

test('A18: a variable is optional where every place that reads it has a default', async () => {
	const javascript = `process.env.A_KEY ?? 'x'; process.env.B_KEY || y; process.env.C_KEY; const { D_KEY = 1, E_KEY } = process.env;
process.env.F_KEY === '1'`;
	const python =
		'os.environ.get("G_KEY", ""); os.getenv("H_KEY"); os.getenv("I_KEY") or "x"; os.getenv("A_KEY", "x"); os.environ["B_KEY"]';
	const { optional } = await needs({ 'a.mjs': javascript, 'b.py': python });
	expect(optional).toEqual(['A_KEY', 'D_KEY', 'F_KEY', 'G_KEY', 'I_KEY']);
});

describe('A18: skills as people have them', () => {
	test('what is imported for types, for Windows, or in place of another module is not needed', async () => {
		const text = `
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import pandas as pd

    from numpy.typing import ArrayLike
try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib
try:
    from urllib.request import urlopen
except ImportError:
    from urllib2 import urlopen
if platform.system() == "Windows":
    import win32com.client
try:
    import fitz
except:
    fitz = None
import urlparse, rich`;
		expect((await needs({ 'a.py': text })).packages).toEqual(['pymupdf', 'rich']);
	});

	test('of modules that many packages share, the package is told by the part', async () => {
		const text = `from google.cloud import storage, bigquery as bq
from google.cloud import secretmanager_v1
from google import genai
from azure.identity import DefaultAzureCredential
from azure.storage.blob import (
    BlobServiceClient,
)
import azure.functions, azure
from azure.storage import queue`;
		expect((await needs({ 'a.py': text })).packages).toEqual([
			...['azure-functions', 'azure-identity', 'azure-storage-blob', 'azure-storage-queue', 'google-cloud-bigquery'],
			...['google-cloud-secretmanager', 'google-cloud-storage', 'google-genai']
		]);
	});

	test('code in a text, for another file or for help, needs nothing; code that is run does', async () => {
		const javascript = `
const page = \`
import React from 'react';
const x = require('templated'); // https://templated.io
\`;
const glob = 'src/*'; const quote = /["'\`]/g; const hint = "import a from 'quoted'";
execSync(\`ffmpeg -i \${file}\`); import { z } from 'zod';`;
		const shell = `cat <<'HELP'
  git clone https://help.io/x
HELP
python3 - <<PY
import pandas
PY
cat > page.js <<-EOF
	require('written')
	EOF
bash <<'RUN'
jq . x
RUN
node <<E
require('sharp')
E
grep x <<< "$y"; yq .`;
		const found = await needs({ 'a.mjs': javascript, 'b.sh': shell });
		expect(found.packages).toEqual(['pandas', 'sharp', 'zod']);
		expect(found.binaries).toEqual(['bash', 'ffmpeg', 'jq', 'node', 'python3', 'yq']);
		expect(found.hosts).toEqual([]);
	});

	test('folders of the skill, and what stands for them, are no packages of JavaScript', async () => {
		const text = `import a from 'src/a'; import b from '~/b'; import { $ } from 'bun';
import c from 'lib/c';import{d}from"d"`;
		expect((await needs({ 'src/a.ts': text })).packages).toEqual(['d', 'lib']);
	});

	test('tests need what nobody runs', async () => {
		const python = 'import pytest';
		const files = {
			'tests/a.py': python,
			'test_b.py': python,
			'src/c.test.ts': 'import "vitest"',
			'evals/d.py': python
		};
		expect(await needs(files)).toEqual({ binaries: [], packages: [], hosts: [], variables: [], optional: [] });
	});

	test('a script in another language needs what its first line names, and nothing of a shell', async () => {
		const files = {
			ruby: '#!/usr/bin/env ruby\nsystem "jq"\ngit = 1 # https://comment.io\nget "https://api.ruby.io/x"',
			perl: '#!/usr/bin/perl -w\n',
			deno: '#!/usr/bin/env -S A=1 deno run\nimport "pkg"'
		};
		const found = await needs(files);
		expect(found.binaries).toEqual(['deno', 'perl', 'ruby']);
		expect([...found.packages, ...found.hosts]).toEqual(['pkg', 'api.ruby.io']);
	});

	test('programs of a list, of a command put together first, and those a package drives', async () => {
		const shell =
			'for tool in ffmpeg "my-tool"; do\n  command -v "$tool" || exit 1\ndone\nfor f in zip; do echo $f; done\nif type magick >/dev/null 2>&1; then :; fi';
		const python = 'import pytesseract\ncmd = [\n    "pdftoppm", "-r"]\nbase_command=["unheard-of"]';
		const javascript =
			"await execa('pandoc', []); await promisify(execFile)('qpdf'); import ffmpeg from 'fluent-ffmpeg'";
		const found = await needs({ 'a.sh': shell, 'b.py': python, 'c.mjs': javascript });
		expect(found.binaries.join(' ')).toBe('bash ffmpeg magick my-tool node pandoc pdftoppm python3 qpdf tesseract');
	});

	test('the instructions tell packages to install in a sentence, and modules to run', async () => {
		const body =
			'- **markitdown**: `pip install "markitdown[pptx]"`\n- `npm install -g pptxgenjs`\n\n```bash\npython -m ocrlib x\npython3 -m http.server\npython -m pip --version\n```\n';
		expect((await needs({}, { body })).packages).toEqual(['markitdown', 'ocrlib', 'pptxgenjs']);
	});

	test('pyproject.toml of Poetry', async () => {
		const text = `[tool.poetry.dependencies]
python = "^3.10"
typer = "^0.9"
httpx = { version = "^1.2.3", extras = ["http2"] }
rich = { version = "*", optional = true }
a = "*"
b = "2.1"
c = { git = "https://evil.example/c" }
d = ">=1,<2"
e = "~2.1"`;
		const skill = { metadata: {}, extra: {}, body: '', files: ['pyproject.toml'], scripts: [] };
		const { packages } = await findNeeds(skill, async () => text);
		expect(packages.map(({ requirement }) => requirement)).toEqual([
			...['typer>=0.9,<0.10', 'httpx>=1.2.3,<2', 'a', 'b==2.1', 'd>=1,<2', 'e']
		]);
	});

	test('a variable that is only checked is required; one that a choice depends on is not', async () => {
		const javascript = `if (!process.env.A_KEY || !process.env.B_KEY) throw new Error();
Number(process.env.C_KEY) || 3000; process.env.D_KEY ? 1 : 2; process.env.E_KEY?.split(',') ?? []; process.env.F_KEY?.trim()`;
		const python = 'if not os.environ.get("G_KEY") or not os.getenv("H_KEY"): exit(1)';
		const { variables, optional } = await needs({ 'a.mjs': javascript, 'b.py': python });
		expect(variables).toHaveLength(8);
		expect(optional).toEqual(['C_KEY', 'D_KEY', 'E_KEY']);
	});
});
