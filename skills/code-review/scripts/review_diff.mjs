#!/usr/bin/env node
// Reads a diff and prints what changed, and what a reviewer should look at first.
import { readFileSync } from 'node:fs';

const USAGE = 'Usage: review_diff.mjs FILE   (a unified diff, as `git diff` prints it; - reads standard input)';

/** Looked for in added lines only; the first that fits a line is reported. */
const CHECKS = [
	['blocker', /-----BEGIN [A-Z ]*PRIVATE KEY|\b(?:sk|ghp|xox[bp]|AKIA)[-_A-Za-z0-9]{16,}/, 'A secret key is in the code.', 'Revoke it, and read it from the environment.'],
	['blocker', /\b(?:\w*(?:password|passwd|secret|api_?key|token))\s*[:=]\s*(['"`])(?![$<{]|\1)[^'"`\s]{4,}\1/i, 'A password or token is written into the code.', 'Read it from the environment or a secret store.'],
	['blocker', /(?:select|insert|update|delete)\b[^;]*(?:\$\{|['"]\s*\+|%s['"]?\s*%|\bf['"])/i, 'A query is built from text, so input can change what it does.', 'Pass the values as parameters.'],
	['blocker', /\beval\s*\(|\bnew Function\s*\(|shell\s*=\s*True|child_process.*\bexec\(/, 'Text is run as code.', 'Call the function or the program directly, with a list of arguments.'],
	['blocker', /^(?:<{7}|={7}|>{7})(?:\s|$)/, 'A merge conflict is still in the file.', 'Resolve it.'],
	['should fix', /catch\s*(?:\([^)]*\)\s*)?\{\s*\}|except(?:\s+\w+)?:\s*pass\b|rescue\s*;?\s*nil/, 'An error is swallowed.', 'Handle it, or let it reach the caller.'],
	['should fix', /\b(?:test|it|describe)\.(?:skip|only)\b|\bx(?:it|describe)\(|@pytest\.mark\.skip|@(?:Ignore|Disabled)\b/, 'A test is switched off, or runs alone.', 'Switch it on again.'],
	['should fix', /\.innerHTML\s*=|dangerouslySetInnerHTML|v-html=|\{@html/, 'Text is put into a page as HTML.', 'Insert it as text, or clean it first.'],
	['should fix', /\bverify\s*=\s*False|rejectUnauthorized\s*:\s*false|InsecureSkipVerify\s*:\s*true/, 'Certificates are not checked.', 'Check them.'],
	['nit', /\bconsole\.(?:log|debug)\(|\bdebugger\b|\bprint\(\s*['"f]|\bdbg!\(|\bvar_dump\(|binding\.pry/, 'Debug output is left in.', 'Remove it.'],
	['nit', /\b(?:TODO|FIXME|XXX|HACK)\b/, 'Work is left open.', 'Do it now, or open an issue and name it.']
];
const ORDER = ['blocker', 'should fix', 'nit'];

const [file] = process.argv.slice(2);
if (!file || file === '--help' || file === '-h') {
	(file ? console.log : console.error)(USAGE);
	process.exit(file ? 0 : 2);
}

let text;
try {
	text = readFileSync(file === '-' ? 0 : file, 'utf8');
} catch (error) {
	console.error(`Can't read ${file}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`);
	process.exit(1);
}

const files = readDiff(text);
if (files.length === 0) {
	console.error(`${file} isn't a unified diff. Make one with "git diff > change.diff".`);
	process.exit(1);
}
console.log(report(files));

/** One entry per file: its added lines with their numbers in the new file, and how many lines went. */
function readDiff(diff) {
	const found = [];
	let current = null;
	let line = 0;
	let left = { old: 0, new: 0 };
	for (const row of diff.split(/\r?\n/)) {
		const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row);
		if (row.startsWith('diff --git ')) left = { old: 0, new: 0 };
		else if (hunk && current) {
			line = Number(hunk[2]);
			left = { old: Number(hunk[1] ?? 1), new: Number(hunk[3] ?? 1) };
		} else if (current && (left.old > 0 || left.new > 0) && /^[-+ \\]|^$/.test(row)) {
			if (row.startsWith('+')) {
				current.added.push({ line: line++, text: row.slice(1) });
				left.new--;
			} else if (row.startsWith('-')) {
				current.removed++;
				left.old--;
			} else if (!row.startsWith('\\')) {
				line++;
				left.old--;
				left.new--;
			}
		} else if (row.startsWith('+++ ')) {
			const path = row.slice(4).split('\t')[0].replace(/^b\//, '');
			if (path !== '/dev/null') current.path = path;
		} else if (row.startsWith('--- ')) {
			current = { path: row.slice(4).split('\t')[0].replace(/^a\//, ''), added: [], removed: 0 };
			found.push(current);
			left = { old: 0, new: 0 };
		}
	}
	return found;
}

function findingsIn({ path, added }) {
	return added.flatMap(({ line, text: code }) => {
		const check = CHECKS.find(([, pattern]) => pattern.test(code));
		return check ? [{ path, line, code: code.trim(), level: check[0], what: check[2], fix: check[3] }] : [];
	});
}

function report(all) {
	const findings = all
		.flatMap(findingsIn)
		.sort((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level));
	const worst = findings[0]?.level;
	const verdict =
		worst === 'blocker' ? 'Do not merge yet' : worst ? 'Merge after the fixes below' : 'Nothing stands out';
	const counts = ORDER.map((level) => [level, findings.filter((each) => each.level === level).length])
		.filter(([, count]) => count > 0)
		.map(([level, count]) => `${count} ${level === 'should fix' ? 'to fix' : count === 1 ? level : `${level}s`}`);
	const lines = [
		`**${verdict}**${counts.length > 0 ? `: ${counts.join(', ')}.` : '. Read the change itself: these checks know common mistakes only.'}`,
		'',
		'| File | Added | Removed |',
		'|---|---:|---:|',
		...all.map(({ path, added, removed }) => `| \`${path}\` | ${added.length} | ${removed} |`)
	];
	for (const { level, path, line, what, fix, code } of findings) {
		const shown = code.length > 160 ? `${code.slice(0, 160)}…` : code;
		lines.push('', `**${level}** \`${path}:${line}\` – ${what} ${fix}`, '', '```', shown, '```');
	}
	const hasCode = all.some(({ path, added }) => added.length > 0 && !isTest(path));
	if (hasCode && !all.some(({ path, added }) => added.length > 0 && isTest(path))) {
		lines.push('', 'No test changed with this code. Which test would fail without it?');
	}
	return lines.join('\n');
}

function isTest(path) {
	return /(^|[/_.-])(tests?|specs?|__tests__)([/_.-]|$)/i.test(path);
}
