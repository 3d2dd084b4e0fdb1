import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { vendoredFiles } from '../../scripts/vendor.ts';
import { runSkill, SKILLS, temporaryFolder, type SkillRun } from './run-skill.ts';

const FORM = join(SKILLS, 'pdf/examples/membership-form.pdf');

const inFolder =
	(cwd: string) =>
	(args: string[], env: Record<string, string> = {}) =>
		runSkill('pdf/scripts/pdf.mjs', args, { cwd, env });

async function pdf(args: string[]): Promise<SkillRun> {
	return inFolder(await temporaryFolder())(args);
}

describe('pdf: reading', () => {
	it('says how many pages there are, how large they are, and what the file says of itself', async () => {
		const { stdout, exitCode } = await pdf(['info', FORM]);
		expect(exitCode).toBe(0);
		for (const line of [
			'Pages: 3',
			'A4 landscape',
			'Title: Membership form',
			'Author: Riverside Library',
			'Form fields: 5'
		])
			expect(stdout).toContain(line);
	});

	it('gives the text by page, of the pages that are asked for', async () => {
		const { stdout } = await pdf(['read', FORM, '--pages', '2-']);
		expect(stdout).toContain('## Page 2\n\nRules for members\n1. Books may be kept for 4 weeks.');
		expect(stdout).toContain('## Page 3\n\nFloor plan');
		expect(stdout).not.toContain('Page 1');
	});

	it('lists the fields of a form with their choices', async () => {
		const { stdout } = await pdf(['fields', FORM]);
		expect(stdout).toContain('| Plan | choice |  | Monthly, Yearly, Family |');
		expect(stdout).toContain('| Newsletter | check box | no |  |');
	});
});

describe('pdf: changing', () => {
	it('fills in a copy of a form, by names in any case, and says what is still empty', async () => {
		const cwd = await temporaryFolder();
		const run = inFolder(cwd);
		const filled = await run(['fill', FORM, 'name = Ada Lovelace, Plan: yearly, Newsletter = yes']);
		expect(filled.stdout).toContain('Filled in 3 fields: membership-form-filled.pdf');
		expect(filled.stdout).toContain('Still empty: Email, City.');
		const { stdout } = await run(['fields', 'membership-form-filled.pdf']);
		for (const row of [
			'| Name | text | Ada Lovelace |',
			'| Plan | choice | Yearly |',
			'| Newsletter | check box | yes |'
		])
			expect(stdout).toContain(row);
		expect((await run(['read', 'membership-form-filled.pdf'])).stdout).toContain('[Name: Ada Lovelace]');
	});

	it('keeps a value that the form’s font can’t draw', async () => {
		const run = inFolder(await temporaryFolder());
		expect((await run(['fill', FORM, '{"Name": "Łódź 東京"}', '--output', 'new.pdf'])).exitCode).toBe(0);
		expect((await run(['fields', 'new.pdf'])).stdout).toContain('Łódź 東京');
	});

	it('extracts pages into a file that holds nothing of the others, with the values of its form', async () => {
		const cwd = await temporaryFolder();
		const run = inFolder(cwd);
		await run(['fill', FORM, 'City = York', '--output', 'filled.pdf']);
		expect((await run(['extract', 'filled.pdf', '--pages', '1'])).stdout).toContain('1 page of 3: filled-pages-1.pdf');
		const { stdout } = await run(['read', 'filled-pages-1.pdf']);
		expect(stdout).toContain('York');
		await run(['extract', FORM, '--pages', '2', '--output', 'two.pdf']);
		expect((await readFile(join(cwd, 'two.pdf'))).length).toBeLessThan(3_000);
	});

	it('splits, joins and turns pages', async () => {
		const run = inFolder(await temporaryFolder());
		expect((await run(['split', FORM])).stdout.match(/membership-form-page-\d\.pdf/g)).toHaveLength(3);
		const joined = await run(['join', 'membership-form-page-3.pdf', 'membership-form-page-1.pdf']);
		expect(joined.stdout).toContain('2 pages of 2 files: joined.pdf');
		expect((await run(['read', 'joined.pdf', '--pages', '1'])).stdout).toContain('Floor plan');
		expect((await run(['rotate', 'joined.pdf', '--by', '90', '--pages', '2'])).stdout).toContain(
			'Turned 1 page by 90°'
		);
		expect((await run(['info', 'joined-rotated.pdf'])).stdout).toContain('A4 landscape, 297 × 210 mm\n');
	});
});

describe('pdf: bad input', () => {
	it('SECURITY: a protected file is opened by the password of the skill’s page alone', async () => {
		const cwd = await temporaryFolder();
		const run = inFolder(cwd);
		const { PDFDocument } = await import('@cantoo/pdf-lib');
		const document = await PDFDocument.create();
		document.addPage().drawText('Secret');
		document.encrypt({ userPassword: 'open', ownerPassword: 'own' });
		await writeFile(join(cwd, 'locked.pdf'), await document.save());
		for (const args of [
			['read', 'locked.pdf'],
			['rotate', 'locked.pdf', '--by', '90']
		]) {
			expect(await run(args)).toEqual({
				exitCode: 1,
				stdout: '',
				stderr: "locked.pdf is protected with a password. Set PDF_PASSWORD on the skill's page.\n"
			});
			expect((await run(args, { PDF_PASSWORD: 'wrong' })).stderr).toContain("PDF_PASSWORD doesn't open locked.pdf.");
			expect((await run(args, { PDF_PASSWORD: 'open' })).exitCode).toBe(0);
		}
	});

	it.each([
		['cut off', async () => (await readFile(FORM)).subarray(0, 3_000), 'is damaged: it can’t be read as a PDF.'],
		['no PDF', () => Buffer.from('Just words.'), 'isn’t a PDF.'],
		['empty', () => Buffer.alloc(0), 'isn’t a PDF.']
	])('a file that is %s: one sentence and exit code 1, whatever is to be done with it', async (_, content, message) => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'bad.pdf'), await content());
		const stderr = `bad.pdf ${message.replaceAll('’', "'")}\n`;
		for (const args of [['info'], ['read'], ['fields'], ['extract', '--pages', '1'], ['rotate', '--by', '90']])
			expect(await inFolder(cwd)([args[0]!, 'bad.pdf', ...args.slice(1)])).toEqual({ exitCode: 1, stdout: '', stderr });
	});

	it.each([
		[['read', 'none.pdf'], 1, "Can't read none.pdf: there is no such file."],
		[['read', FORM, '--pages', '7'], 2, "There's no page 7: the file has 3 pages."],
		[['extract', FORM], 2, 'Which pages?'],
		[['rotate', FORM, '--by', '45'], 2, '--by must be 90'],
		[['fill', FORM, 'Nme = Ada, Plan = Yearly'], 2, 'There’s no field “Nme”. The fields are: Name, Email'],
		[['fill', FORM, 'Plan = Weekly'], 2, 'Plan takes one of: Monthly, Yearly, Family.'],
		[['rotate', FORM, '--by', '90', '--output', FORM], 2, 'is the file that was given']
	])('%j ends with exit code %i: %s', async (args, exitCode, message) => {
		const run = await pdf(args);
		expect(run.exitCode).toBe(exitCode);
		expect(run.stderr).toContain(message.replaceAll('’', "'"));
	});
});

test('what skills/ brings along of other people is what `npm run vendor` builds', async () => {
	for (const [path, content] of await vendoredFiles())
		expect((await readFile(join(SKILLS, path), 'utf8')) === content, path).toBe(true);
});
