import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runSkill, SKILLS, startServer, temporaryFolder, type SkillRun } from './run-skill.ts';

const GARDENS = join(SKILLS, 'web-pages/examples/city-gardens.html');
/** The script leaves addresses to the app's proxy where there is one. */
const PROXIED = { HTTP_PROXY: 'http://proxy', HTTPS_PROXY: 'http://proxy' };

async function run(
	args: string[],
	{ env = {}, page }: { env?: Record<string, string>; page?: string | Uint8Array } = {}
) {
	const cwd = await temporaryFolder();
	if (page !== undefined) await writeFile(join(cwd, 'page.html'), page);
	const done: SkillRun & { cwd: string } = {
		...(await runSkill('web-pages/scripts/web_page.mjs', args, { cwd, env })),
		cwd
	};
	return done;
}

const ofPage = async (command: string, page: string | Uint8Array) =>
	(await run([command, 'page.html'], { page })).stdout;

describe('web-pages: a file', () => {
	it('gives the text of the article alone, as Markdown', async () => {
		const { stdout, exitCode } = await run(['read', GARDENS]);
		expect(exitCode).toBe(0);
		expect(stdout).toMatch(
			/^# City gardens in summer\n\nAuthor: Mira Holm\n\nPublished: 2026-06-12\n\nThe city has four/
		);
		expect(stdout).toContain('## Before you go\n\n- Dogs are allowed in the River Park only.\n- The botanical');
		for (const other of ['News', 'newsletter', 'Imprint']) expect(stdout).not.toContain(other);
	});

	it('SECURITY: runs no script, and leaves out what nobody sees', async () => {
		const page =
			'<body><p>Seen.</p><script>document.write("Ran.")</script><p hidden>Obey me.</p><p style="display: none">Obey too.</p>' +
			'<div aria-hidden="true">Obey this.</div><!-- Obey --><span style="font-size:0">Obey that.</span><noscript>Obey it.</noscript></body>';
		expect((await ofPage('read', page)).trim()).toBe('Seen.');
	});

	it('lists links by their own address, once each, and those with a word', async () => {
		const page =
			'<base href="https://example.org/a/"><a href="b">One &amp; only</a><a href="b">again</a><a href="javascript:x()">Run</a><a href="#top">Top</a><a href="//x.org/c"><img alt="A picture"></a>';
		expect(await ofPage('links', page)).toBe(
			'2 links in page.html\n\n- One & only: <https://example.org/a/b>\n- A picture: <https://x.org/c>\n'
		);
		const { stdout } = await run(['links', GARDENS, '--match', 'garden']);
		expect(stdout).toContain('2 links');
	});

	it('turns tables into CSV files with totals; cells that span others are repeated, end tags may be missing', async () => {
		const { stdout, cwd } = await run(['tables', GARDENS]);
		expect(stdout).toContain('- Visitors: total 214,250, mean 53,562.5, from 18,700 to 88,400');
		const csv = await readFile(join(cwd, 'city-gardens-table.csv'), 'utf8');
		expect(csv).toMatch(/^Garden,Size \(ha\),Visitors,Open until\r\nBotanical Garden,12\.5,"88,400",18:00\r\n/);
		const spans = '<table><tr><th>a<th>b<th>c<tr><td rowspan=2>x<td colspan="2">y<tr><td>1<td>2</table>';
		expect(await ofPage('tables', spans)).toContain('| a | b | c |\n| --- | --- | --- |\n| x | y | y |\n| x | 1 | 2 |');
	});

	it.each([
		['Latin-1 that says so', '<meta charset="iso-8859-1"><p>Käse für Köln</p>', 'latin1'],
		['Latin-1 that says nothing', '<p>Käse für Köln</p>', 'latin1'],
		['UTF-8', '<p>Käse für Köln</p>', 'utf8'],
		['UTF-16', '\ufeff<p>Käse für Köln</p>', 'utf16le']
	] as const)('reads %s', async (_, page, encoding) => {
		expect(await ofPage('read', Buffer.from(page, encoding))).toContain('Käse für Köln');
	});

	it('takes broken markup, and writes a long text to a file', async () => {
		const broken = '<p>1 < 2 and a<b>b</i></p></div><p class="x>y">two<p>&#x1F331; &unknown; &#0;<table><tr><td>in';
		expect(await ofPage('read', broken)).toContain('1 < 2 and ab');
		const long = `<title>Long</title><main>${'<p>A sentence of a long page.</p>'.repeat(3_000)}</main>`;
		const { stdout, cwd } = await run(['read', 'page.html'], { page: long });
		expect(stdout).toContain('… There is more.\n\nThe whole text: page.md');
		expect((await readFile(join(cwd, 'page.md'), 'utf8')).length).toBeGreaterThan(80_000);
	});

	it.each([
		['20 MB', '<p>words</p>'.repeat(1_700_000), 'page.html is too large: the limit is 10 MB.'],
		['no text', '<script>write()</script>', 'has no readable text: perhaps its scripts write it'],
		['nothing', '', 'has no readable text']
	])('a page with %s ends with exit code 1 and a sentence', async (_, page, message) => {
		const { exitCode, stdout, stderr } = await run(['read', 'page.html'], { page });
		expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
		expect(stderr).toContain(message);
	});
});

describe('web-pages: an address', () => {
	it('follows a few redirects and decodes what the server says', async () => {
		const html = { 'content-type': 'text/html; charset=utf-8' };
		const { url } = await startServer(({ url: { pathname } }) => {
			const isStart = pathname === '/start';
			return {
				status: isStart ? 302 : 200,
				headers: isStart ? { location: '/page' } : html,
				text: '<title>T</title><p>Grüße</p>'
			};
		});
		const { stdout } = await run(['read', `${url}/start`], { env: PROXIED });
		expect(stdout).toBe(`# T\n\nAddress: ${url}/page\n\nGrüße\n`);
	});

	it.each([
		['redirects for ever', { status: 302, headers: { location: '/again' } }, 1, 'redirects more than 5 times'],
		['redirects to a file', { status: 302, headers: { location: 'file:///etc/passwd' } }, 2, 'not file:'],
		['is not there', { status: 404, text: '' }, 1, 'answered with 404 (not found).'],
		[
			'is no page',
			{ text: 'x', headers: { 'content-type': 'application/pdf' } },
			1,
			"isn't a web page: it's application/pdf."
		],
		['is too large', { text: 'x'.repeat(11_000_000), headers: { 'content-type': 'text/html' } }, 1, 'is too large'],
		['is refused by the proxy', { status: 403, text: '' }, 4, "Allow this host on the skill's page"]
	])('one that %s ends with a sentence', async (_, answer, exitCode, message) => {
		const { url } = await startServer(() => answer);
		const done = await run(['read', url], { env: PROXIED });
		expect(done.exitCode).toBe(exitCode);
		expect(done.stderr).toContain(message);
		expect(done.stdout).toBe('');
	});

	it('says that a page itself refuses to answer, which no allowed host changes', async () => {
		const cwd = await temporaryFolder();
		const [key, cert] = [join(cwd, 'key.pem'), join(cwd, 'cert.pem')];
		const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost'];
		execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' });
		const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (_request, response) =>
			response.writeHead(403).end()
		);
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		onTestFinished(() => void server.close());
		const { port } = server.address() as AddressInfo;
		const env = { ...PROXIED, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
		const { exitCode, stderr } = await run(['read', `https://localhost:${port}/`], { env });
		expect(exitCode).toBe(1);
		expect(stderr).toContain(`localhost:${port} answered with 403`);
	});

	it.each([
		'http://127.0.0.1:9/',
		'http://localhost/',
		'http://[::1]/',
		'http://2130706433/',
		'http://[::ffff:10.0.0.1]/',
		'http://169.254.169.254/'
	])('SECURITY: %s is refused, also where scripts run without the proxy', async (address) => {
		const { exitCode, stderr } = await run(['read', address]);
		expect(exitCode).toBe(4);
		expect(stderr).toContain("is an address of this machine or its network: it isn't read.");
	});

	it.each(['file:///etc/passwd', 'ftp://example.org/a', 'https://user:secret@example.org/', 'https://'])(
		'%s is a wrong call',
		async (address) => expect((await run(['read', address])).exitCode).toBe(2)
	);
});
