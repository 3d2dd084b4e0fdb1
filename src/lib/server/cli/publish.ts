/** `openrouter-skills publish <dir>`: skills as a folder of a site, from which others install them (F8, E27). */
import { readSkills, type CliCommand } from '../skills/cli/run-cli.ts';
import type { PublishReport } from '../install/publish.ts';

/** Exit code 1 if nothing was published. */
export const publishCommand: CliCommand = {
	usage: 'publish <dir> [--out site]      write site/.well-known/agent-skills; --anyway: also skills with risks',
	options: ['out'],
	flags: ['anyway'],
	async run(dir, { out, anyway }) {
		// Loaded on demand: the other commands don't need it.
		const { publishSkills } = await import('../install/publish.ts');
		const site = typeof out === 'string' ? out : '.';
		const report = await publishSkills(await readSkills(dir), { site, anyway: anyway === true });
		return { text: render(report, dir), json: report, hasErrors: report.published.length === 0 };
	}
};

function render({ folder, published, leftOut, refused }: PublishReport, dir: string): string {
	const reasons = refused.flatMap(({ name, path, reasons: all }) => [
		`${name} can’t be published (${path}):`,
		...all.map((reason) => `  ${reason}`)
	]);
	if (published.length === 0) {
		if (refused.length === 0) return `No SKILL.md found in ${dir}.`;
		return [...reasons, '', 'Nothing was published. Correct this, or add --anyway if you know it’s fine.'].join('\n');
	}
	return [
		`Published ${published.length === 1 ? '1 skill' : `${published.length} skills`} in ${folder}:`,
		...published.map(({ name, version, files, digest }) => {
			return `  ${name} ${version}, ${files === 1 ? '1 file' : `${files} files`}, ${digest}`;
		}),
		...(leftOut.length > 0 ? [`Left out: ${leftOut.join(', ')}`] : []),
		...reasons,
		'Others install them by the address of your site.'
	].join('\n');
}
