/** Programs that a text runs, from a list of those that are often missing; a guess (FEATURES A18). */

const KNOWN = new Set(
	(
		'7z aws az adb ansible cargo cmake convert curl deno docker dot exiftool fd ffmpeg ffprobe fzf gcc gcloud gh git ' +
		'go gpg gradle gs heroku helm identify inkscape java jo jq julia kubectl latexmk libreoffice lua magick make ' +
		'mediainfo mmdc mongosh mvn mysql nmap npm npx openssl pandoc pdfimages pdfinfo pdflatex pdftk pdftoppm pdftotext ' +
		'perl php pip pip3 plantuml pnpm podman poetry psql qpdf rclone redis-cli rg rsync ruby rustc Rscript scp ' +
		'shellcheck soffice sops sox sqlite3 ssh stripe svn tar terraform tesseract tree unzip uv uvx wget whois ' +
		'wkhtmltopdf wrangler xelatex xmllint xsltproc yarn yq yt-dlp zip bun chromium age exa lame node python3 typst'
	).split(' ')
);
/** Words of prose as well. */
const AMBIGUOUS = new Set(['age', 'convert', 'dot', 'exa', 'fd', 'go', 'identify', 'lame', 'make', 'tree', 'gs', 'jo']);

const WORD = '([A-Za-z0-9][\\w.+-]{0,63})';
/** Where a command stands in a shell's text. */
const COMMAND = new RegExp(
	`(?:^|[|&;(\`{!])[ \\t]*(?:(?:then|do|else|sudo|xargs|exec|time|if|while|until|env|!)[ \\t]+){0,3}${WORD}(?![\\w=/])`,
	'gm'
);
const ASKED = new RegExp(`\\b(?:command[ \\t]+-v|which|hash|type[ \\t]+-[Pp])[ \\t]+["']?${WORD}`, 'g');
/** The first argument of what starts a process, or looks one up. */
const STARTED = new RegExp(
	`\\b(?:spawn|execFile|exec|fork)(?:Sync)?\\(\\s{0,40}["'\`]${WORD}(?=["'\` ])|\\b(?:run|Popen|call|check_call|check_output|create_subprocess_exec|system|popen)\\(\\s{0,40}\\[?\\s{0,40}["']${WORD}(?=["' ])`,
	'g'
);
const LOOKED_UP = new RegExp(`\\bwhich(?:Sync)?\\(\\s{0,40}["'\`]${WORD}["'\`]`, 'g');

/** A shell script: known programs where a command stands, and whatever it asks for with `command -v`. */
export function binariesInShell(text: string): string[] {
	// Not what a comment says.
	const code = text.replaceAll(/(^|[ \t;])#[^\n]*/gm, '$1');
	return [...wordsOf(code, COMMAND).filter((name) => KNOWN.has(name)), ...wordsOf(code, ASKED)];
}

/** JavaScript and Python: known programs that it starts, and whatever it looks up on the PATH. */
export function binariesInCode(text: string): string[] {
	return [...wordsOf(text, STARTED).filter((name) => KNOWN.has(name)), ...wordsOf(text, LOOKED_UP)];
}

/** Prose that names programs: `Requires git, docker and jq`. */
export function binariesNamed(text: string): string[] {
	return wordsOf(text, new RegExp(`(?<![\\w./-])${WORD}`, 'g')).flatMap((word) => {
		const name = word.toLowerCase().replace(/[.+-]+$/, '');
		if (name === 'python') return ['python3'];
		return KNOWN.has(name) && !AMBIGUOUS.has(name) ? [name] : [];
	});
}

function wordsOf(text: string, pattern: RegExp): string[] {
	return Array.from(text.matchAll(pattern), ([, first, second]) => first ?? second ?? '').filter(Boolean);
}
