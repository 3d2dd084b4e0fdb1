/** Tiny wheels and npm tarballs, and a server that plays both indexes and can misbehave. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipOf } from './zip-writer.ts';

export interface Wheel {
	/** `tiny-lib`, imported as `tiny_lib`. */
	name: string;
	version?: string;
	/** What it is imported as. Default: by its name. */
	module?: string;
	/** The module’s code. */
	code?: string;
	/** Lines of METADATA: `other>=1`, `far @ https://example.org/far.whl`. */
	requires?: string[];
	/** What METADATA says at its end. */
	about?: string;
	/** Programs: name to `module:function`. */
	programs?: Record<string, string>;
	/** Bytes of a file that comes along. */
	padding?: Buffer;
	/** How many empty files come along. */
	empty?: number;
	/** The last part of its name. */
	tag?: string;
}

/** A wheel’s file name and bytes. */
export function wheel({
	name,
	version = '1.0.0',
	module: own,
	code = '',
	requires = [],
	about = '',
	programs = {},
	padding,
	empty = 0,
	tag
}: Wheel): {
	file: string;
	bytes: Buffer;
} {
	const plain = name.replaceAll('-', '_');
	const module = own ?? plain;
	const info = `${plain}-${version}.dist-info`;
	const metadata = [
		'Metadata-Version: 2.1',
		`Name: ${name}`,
		`Version: ${version}`,
		...requires.map((each) => `Requires-Dist: ${each}`),
		'',
		about
	].join('\n');
	const entries = Object.entries(programs).map(([program, place]) => `${program} = ${place}\n`);
	const files: Record<string, string | Buffer> = {
		[`${module}.py`]: code || `VERSION = "${version}"\n`,
		...(padding && { [`${module}.bin`]: padding }),
		...Object.fromEntries(Array.from({ length: empty }, (_, at) => [`${module}-data/${at}`, ''])),
		[`${info}/METADATA`]: metadata,
		[`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
		...(entries.length > 0 && { [`${info}/entry_points.txt`]: `[console_scripts]\n${entries.join('')}` })
	};
	const record = [...Object.keys(files), `${info}/RECORD`].map((path) => `${path},,\n`).join('');
	const parts = Object.entries({ ...files, [`${info}/RECORD`]: record }).map(([path, content]) => ({
		name: path,
		content
	}));
	return { file: `${plain}-${version}-${tag ?? 'py3-none-any'}.whl`, bytes: zipOf(parts) };
}

/** Writes wheels into a folder. */
export async function wheelFolder(folder: string, wheels: readonly Wheel[]): Promise<void> {
	await mkdir(folder, { recursive: true });
	for (const each of wheels) {
		const { file, bytes } = wheel(each);
		await writeFile(join(folder, file), bytes);
	}
}

export interface NpmPackage {
	name: string;
	version?: string;
	dependencies?: Record<string, string>;
	/** More of package.json. */
	more?: Record<string, unknown>;
	files?: Record<string, string>;
}

/** An npm tarball. */
function tarball({ name, version = '1.0.0', dependencies = {}, more = {}, files = {} }: NpmPackage): Buffer {
	const manifest = JSON.stringify({ name, version, main: 'index.js', dependencies, ...more });
	return tarOf('package', { 'package.json': manifest, 'index.js': `exports.version = '${version}';\n`, ...files });
}

/** A compressed tar archive of one folder. */
export function tarOf(folder: string, files: Record<string, string>): Buffer {
	const blocks = Object.entries(files).flatMap(([path, text]) => {
		const content = Buffer.from(text);
		const header = Buffer.alloc(512);
		header.write(`${folder}/${path}`, 0);
		header.write('0000644\0', 100);
		header.write('0000000\0', 108);
		header.write('0000000\0', 116);
		header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
		header.write('00000000000\0', 136);
		header.write('        ', 148);
		header.write('0', 156);
		header.write('ustar\x0000', 257);
		const sum = header.reduce((total, byte) => total + byte, 0);
		header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
		return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
	});
	return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

export interface PackageIndex {
	pipIndexUrl: string;
	npmRegistry: string;
	host: string;
	/** Paths that were asked for. */
	asked: string[];
	/** Answers requests in its place; false leaves them to the index. */
	intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
	/** Replaces the bytes of a file, though what the index says of it stays. */
	replaced: Map<string, Buffer>;
	close(): Promise<void>;
}

/** Serves wheels as PEP 503 and packages as an npm registry. */
export async function openPackageIndex(
	wheels: readonly Wheel[],
	packages: readonly NpmPackage[] = []
): Promise<PackageIndex> {
	const files = new Map(wheels.map(wheel).map(({ file, bytes }) => [file, bytes]));
	const tarballs = new Map(packages.map((each) => [`${each.name}-${each.version ?? '1.0.0'}.tgz`, tarball(each)]));
	const index: Omit<PackageIndex, 'pipIndexUrl' | 'npmRegistry' | 'host' | 'close'> = {
		asked: [],
		intercept: null,
		replaced: new Map()
	};
	const pageOf = (name: string): string | null => {
		const links = [...files].filter(([file]) => file.split('-')[0]?.toLowerCase().replaceAll('_', '-') === name);
		if (links.length === 0) return null;
		return links.map(([file, bytes]) => `<a href="/files/${file}#sha256=${sha256(bytes)}">${file}</a>\n`).join('');
	};
	const packumentOf = (name: string, origin: string): string | null => {
		const versions = packages.filter((each) => each.name === name);
		if (versions.length === 0) return null;
		const entries = versions.map(({ version = '1.0.0', dependencies = {}, more = {} }) => {
			const file = `${name}-${version}.tgz`;
			const integrity = `sha512-${createHash('sha512')
				.update(tarballs.get(file) ?? '')
				.digest('base64')}`;
			const dist = { tarball: `${origin}/tarballs/${encodeURIComponent(file)}`, integrity };
			return [version, { name, version, dependencies, dist, ...more }] as const;
		});
		const latest = entries.at(-1)?.[0];
		return JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(entries) });
	};
	const server = createServer((request, response) => {
		const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
		index.asked.push(path);
		if (index.intercept?.(request, response)) return;
		const origin = `http://${request.headers.host}`;
		const send = (type: string, body: string | Buffer | null | undefined) => {
			if (body === null || body === undefined) return void response.writeHead(404).end('{"error":"not found"}');
			response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
		};
		const [, folder = '', ...rest] = path.split('/');
		const name = rest.join('/').replace(/\/$/, '');
		if (folder === 'simple') return send('text/html', pageOf(name));
		if (folder === 'files') return send('application/zip', index.replaced.get(name) ?? files.get(name));
		if (folder === 'npm' && name) return send('application/json', packumentOf(name, origin));
		if (folder === 'tarballs') return send('application/gzip', index.replaced.get(name) ?? tarballs.get(name));
		send('text/plain', null);
	});
	await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
	return Object.assign(index, {
		pipIndexUrl: `http://${host}/simple`,
		npmRegistry: `http://${host}/npm/`,
		host,
		close: () =>
			new Promise<void>((closed) => {
				server.closeAllConnections();
				server.close(() => closed());
			})
	});
}

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}
