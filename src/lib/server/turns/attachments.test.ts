import { hash } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { call, item, raw, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { AppError } from '../../shared/errors.ts';
import { filesOf } from '../../shared/message.ts';
import { createSizeOf } from '../agent/compaction.ts';
import { keepCopy, withSeenAs } from './attachments.ts';
import { withoutMetadata } from './pictures.ts';
import { formatOf } from '../skills/run/picture-format.ts';

let rig: RunRig;
afterEach(() => rig?.close());

const SEEING = { id: 'test/model', architecture: { input_modalities: ['text', 'image'] } };
const BLIND = { id: 'test/blind', architecture: { input_modalities: ['text'] } };
const READING = { id: 'test/reading', architecture: { input_modalities: ['text', 'image', 'file'] } };

/** The start of a PNG of this size, plus this many bytes. */
function png(width = 10, height = 10, more = 0): Buffer {
	const head = Buffer.from('89504e470d0a1a0a0000000d49484452' + '0'.repeat(32), 'hex');
	head.writeUInt32BE(width, 16);
	head.writeUInt32BE(height, 20);
	return Buffer.concat([head, Buffer.alloc(more)]);
}
/** A JPEG with location data in every possible place, rotated right. */
const segment = (marker: number, content: string) => {
	const length = Buffer.from([0xff, marker, 0, content.length + 2]);
	return Buffer.concat([length, Buffer.from(content, 'latin1')]);
};
const TIFF = 'II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0';
const FRAME = segment(0xc0, '\x08\0\x10\0\x10\x01\x01\x11\0');
const SCAN = Buffer.concat([segment(0xda, '\x01\x01\0\0\x3f\0'), Buffer.from('12ff0034ffd056', 'hex')]);
const END = Buffer.from('ffd9', 'hex');
const PHOTO = Buffer.concat([
	Buffer.from('ffd8', 'hex'),
	segment(0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0'),
	segment(0xe1, `Exif\0\0${TIFF}52N13E`),
	segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<GPS>52N13E</GPS>'),
	segment(0xe2, 'ICC_PROFILE\0\x01\x01colors'),
	...[0xe2, 0xe5, 0xed, 0xfe].map((marker) => segment(marker, '52N13E')),
	...[FRAME, SCAN, segment(0xfe, '52N13E'), SCAN, END, segment(0xe1, 'Exif\0\x0052N13E')]
]);
const urlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

/** A PDF with this many pages, each with a line of text. */
function pdf(pages: number, line = (page: number) => `This is page ${page}`, trailer = ''): Buffer {
	const objects = ['<</Type/Catalog/Pages 2 0 R>>', '', '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'];
	const kids: string[] = [];
	for (let page = 1; page <= pages; page += 1) {
		const text = `BT /F1 12 Tf 20 200 Td (${line(page)}) Tj ET`;
		const resources = '/MediaBox[0 0 300 300]/Resources<</Font<</F1 3 0 R>>>>';
		kids.push(`${objects.length + 1} 0 R`);
		objects.push(`<</Type/Page/Parent 2 0 R${resources}/Contents ${objects.length + 2} 0 R>>`);
		objects.push(`<</Length ${text.length}>>stream\n${text}\nendstream`);
	}
	objects[1] = `<</Type/Pages/Count ${pages}/Kids[${kids.join(' ')}]>>`;
	let file = '%PDF-1.4\n';
	const places = objects.map((object, index) => {
		const place = file.length;
		file += `${index + 1} 0 obj\n${object}\nendobj\n`;
		return `${String(place).padStart(10, '0')} 00000 n \n`;
	});
	const end = `trailer<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${file.length}\n%%EOF`;
	return Buffer.from(`${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}${end}`, 'latin1');
}
const ENCRYPTED = `/ID[<${'00'.repeat(16)}><${'00'.repeat(16)}>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<${'11'.repeat(32)}>/U<${'22'.repeat(32)}>>>`;

async function start(script: Reply[], options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, { models: [SEEING, BLIND, READING], ...options });
}
const upload = (path: string, bytes: Buffer | string) =>
	rig.workspaces.write('c', path, new Blob([new Uint8Array(Buffer.from(bytes))]).stream());
const ask = (words: string, ...files: string[]) => rig.run(words, { message: { id: words, text: words, files } });
const sent = (request: number) => rig.server.requests[request - 1]!.body.input as { content: object[] }[];
const shown = (request: number) =>
	sent(request).flatMap((each) => ('content' in each ? each.content.filter((part) => 'image_url' in part) : []));
const told = (request: number) => JSON.stringify(sent(request));

describe('F5: a picture that is attached to a message', () => {
	test('is shown to a model that can see, at its message, and in later turns with the same bytes, whatever scripts do to the file', async () => {
		await start([text('A cat.'), text('Still a cat.')]);
		await upload('cat.png', png());
		await ask('What is it?', 'cat.png');
		expect(shown(1)).toEqual([{ type: 'input_image', detail: 'auto', image_url: urlOf(png()) }]);
		expect(told(1)).toContain('The picture cat.png:');
		await upload('cat.png', png(20, 20));
		await ask('And now?');
		expect(sent(2).slice(0, sent(1).length)).toEqual(sent(1));
		rig.server.assertDone();
	});

	test('is a sentence for a model that cannot see, or of which nobody knows; each request goes by its model', async () => {
		await start([text('One.'), text('Two.'), text('Three.')]);
		await upload('cat.png', png());
		const choice = (model: string) => ({ choice: { model } });
		const message = { id: 'm1', text: 'What is it?', files: ['cat.png'] };
		await rig.run('', { message, ...choice('test/blind') });
		await rig.run('Now?', choice('test/model'));
		await rig.run('And now?', choice('test/unknown'));
		expect([1, 2, 3].map((request) => shown(request).length)).toEqual([0, 1, 0]);
		for (const request of [1, 3]) expect(told(request)).toContain('you can’t see pictures. Scripts can read the file.');
		rig.server.assertDone();
	});

	test('that the server refuses after all is left out, once and in sight, and the question is answered', async () => {
		const refusal = status(404, { error: { code: 404, message: 'No endpoints found that support image input' } });
		await start([refusal, text('I see none.')]);
		await upload('cat.png', png());
		const { list } = await ask('What is it?', 'cat.png');
		expect(shown(1)).toHaveLength(1);
		expect(shown(2)).toHaveLength(0);
		expect(told(2)).toContain('refused it');
		expect(
			list.flatMap((event) => (event.type === 'CUSTOM' && event.name === 'run.retry' ? [event.value.message] : []))
		).toEqual(['test/model refused the pictures, so it was asked without them.']);
		rig.server.assertDone();
	});

	test.each([
		'image input is not supported - hint: you may need to provide the mmproj',
		'this model is missing data required for image input',
		'Failed to decode image: the data ended too early'
	])('that a server refuses with 500 (“%s”) is left out like one refused with 400', async (message) => {
		const refusal = status(500, { error: { code: 500, message } });
		await start([refusal, refusal, refusal, refusal, text('I see none.')]);
		await upload('cat.png', png());
		const { runId } = await ask('What is it?', 'cat.png');
		expect((await rig.answer(runId)).usage?.leftOut).toEqual([
			'test/model refused the pictures, so it was asked without them.'
		]);
		rig.server.assertDone();
	});

	test.each([
		'Internal server error',
		'no such file or directory: model.gguf',
		'The vision encoder ran out of memory',
		'unsupported driver. The image server is down'
	])('is not taken for the cause of another 500 (“%s”)', async (message) => {
		const failure = status(500, { error: { code: 500, message } });
		await start([failure, failure, failure, failure]);
		await upload('cat.png', png());
		const { list } = await ask('What is it?', 'cat.png');
		expect(list.at(-1)).toMatchObject({ type: 'RUN_ERROR' });
		rig.server.assertDone();
	});

	test('that was refused is not sent to that model again, unless it is attached once more; another model is asked with it', async () => {
		const refusal = status(400, { error: { code: 400, message: 'image input is not supported' } });
		const [first, again] = [text('One.'), text('Four.')];
		await start([refusal, first, text('Two.'), text('Three.'), refusal, again, text('Five.')]);
		await upload('cat.png', png());
		const { runId } = await ask('What is it?', 'cat.png');
		expect((await rig.answer(runId)).usage?.leftOut).toEqual([
			'test/model refused the pictures, so it was asked without them.'
		]);
		const next = await ask('And now?');
		expect((await rig.answer(next.runId)).usage?.leftOut).toBe(undefined);
		await rig.run('You?', { choice: { model: 'test/reading' } });
		await rig.run('Again?', {
			message: { id: 'm4', text: 'Again?', files: ['cat.png'] },
			choice: { model: 'test/model' }
		});
		await ask('And then?');
		expect([1, 2, 3, 4, 5, 6, 7].map((request) => shown(request).length)).toEqual([1, 0, 0, 1, 1, 0, 0]);
		// Earlier messages stay the same, for the server's cache.
		expect(sent(7).slice(0, sent(6).length)).toEqual(sent(6));
		rig.server.assertDone();
	});

	test('another error of such a request stays an error', async () => {
		await start([status(400, { error: { code: 400, message: 'Bad temperature' } })]);
		await upload('cat.png', png());
		const { list } = await ask('What is it?', 'cat.png');
		expect(list.at(-1)).toMatchObject({
			type: 'RUN_ERROR',
			message: expect.stringContaining('Bad temperature') as string
		});
		rig.server.assertDone();
	});

	test('is sent as the copy that the page made of it, in later turns and forks, too; the file itself stays, and is all that is listed', async () => {
		await start([text('A cat.'), text('Still.'), text('Another.')]);
		const cat = { conversationId: 'c', path: 'cat.png' };
		const large = png(9000, 10);
		await upload('cat.png', large);
		await keepCopy(rig.workspaces, cat, new Blob([new Uint8Array(png(1568, 2))]).stream());
		const listed = await rig.workspaces.listVersions('c');
		expect(listed).toMatchObject([{ path: 'cat.png', bytes: large.length, versions: [] }]);
		const reading = { conversationId: 'c', model: { id: 'a/b', takes: async () => true }, cap: null };
		const [seen] = await withSeenAs(listed, rig.workspaces, { ...reading, signal: new AbortController().signal });
		expect(seen?.seenAs).toEqual({ as: 'picture', why: 'The model sees a copy of this picture.' });
		await ask('What is it?', 'cat.png');
		expect(shown(1)).toEqual([{ type: 'input_image', detail: 'auto', image_url: urlOf(png(1568, 2)) }]);
		await rig.workspaces.copyAll('c', 'fork', 'a');
		const copy = await rig.workspaces.readCopy('fork', 'cat.png');
		expect(await copy?.file.readFile().finally(() => copy.file.close())).toEqual(png(1568, 2));
		await upload('cat.png', png(20, 20));
		await ask('And now?');
		expect(sent(2).slice(0, sent(1).length)).toEqual(sent(1));
		await ask('What is this one?', 'cat.png');
		expect(shown(3).at(-1)).toMatchObject({ image_url: urlOf(png(20, 20)) });
		rig.server.assertDone();
	});

	test('gets no copy that is no picture, too large, or without its file; the picture itself is sent then', async () => {
		await start([text('A cat.')]);
		await upload('cat.png', png());
		const keep = (bytes: Buffer | string, path = 'cat.png') =>
			keepCopy(rig.workspaces, { conversationId: 'c', path }, new Blob([new Uint8Array(Buffer.from(bytes))]).stream());
		await expect(keep('')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(keep('<svg/>')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(keep(png(0, 0))).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(keep(png(1569, 1))).rejects.toMatchObject({ code: 'too_large' });
		await expect(keep(png(1, 1, 5 * 1024 * 1024))).rejects.toMatchObject({ code: 'too_large' });
		await expect(keep(png(), 'gone.png')).rejects.toMatchObject({ code: 'not_found' });
		await ask('What is it?', 'cat.png');
		expect(shown(1)).toEqual([{ type: 'input_image', detail: 'auto', image_url: urlOf(png()) }]);
		rig.server.assertDone();
	});

	test('is sent without the place where it was taken, however it got here; the file keeps it', async () => {
		await start([text('A cat.')]);
		await upload('cat.jpg', PHOTO);
		await ask('What is it?', 'cat.jpg');
		const [part] = shown(1) as { image_url: string }[];
		expect(Buffer.from(part!.image_url.split(',')[1]!, 'base64')).toEqual(withoutMetadata(PHOTO, 'image/jpeg'));
		expect(withoutMetadata(PHOTO, 'image/jpeg')!.includes('52N13E')).toBe(false);
		const kept = await rig.workspaces.read('c', 'cat.jpg');
		expect(await kept.file.readFile().finally(() => kept.file.close())).toEqual(PHOTO);
		rig.server.assertDone();
	});

	test('is known by its bytes: a text with the name of a picture is none, a picture with another name is one; too large ones are named', async () => {
		await start([text('Well.')]);
		const files: Record<string, Buffer> = {
			'fake.png': Buffer.from('hello'),
			'picture.dat': png(),
			'wide.png': png(8001, 1),
			'heavy.png': png(1, 1, 5 * 1024 * 1024),
			'empty.jpg': Buffer.alloc(0),
			'none.png': png(0, 0),
			'none.jpg': Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(1000, 0xff)]),
			'notes.txt': Buffer.from('notes')
		};
		for (const [path, bytes] of Object.entries(files)) await upload(path, bytes);
		await ask('What are they?', ...Object.keys(files), 'gone.png');
		expect(shown(1)).toEqual([{ type: 'input_image', detail: 'auto', image_url: urlOf(png()) }]);
		for (const said of [
			'fake.png isn’t shown: it’s no PNG, JPEG, GIF or WebP.',
			'wide.png isn’t shown: it’s larger than 8000 pixels.',
			'heavy.png isn’t shown: it’s larger than 5 MB.',
			'empty.jpg isn’t shown: it’s no PNG',
			'none.png isn’t shown: it’s damaged.',
			'none.jpg isn’t shown: it’s damaged.'
		])
			expect(told(1)).toContain(said);
		expect(told(1)).not.toContain('notes.txt isn’t');
	});

	test('of more than twenty in a conversation the newest are shown, and the others named', async () => {
		await start([text('Many.'), text('One more.')]);
		const paths = Array.from({ length: 20 }, (_, index) => `${index}.png`);
		for (const [index, path] of [...paths, 'last.png'].entries()) await upload(path, png(index + 1));
		await ask('Look', ...paths);
		expect(shown(1)).toHaveLength(20);
		await ask('And this', 'last.png');
		expect(shown(2)).toHaveLength(20);
		expect(shown(2).at(-1)).toMatchObject({ image_url: urlOf(png(21)) });
		expect(told(2)).toContain('0.png isn’t shown, because a request has at most 20');
	});

	test('counts for its picture, not for its bytes; bytes are stored once, as a version of the file', async () => {
		await start([text('A cat.')]);
		await upload('cat.png', png(10, 10, 100_000));
		const { list } = await ask('What is it?', 'cat.png');
		const contexts = list.flatMap((event) =>
			event.type === 'CUSTOM' && event.name === 'run.context' ? [event.value.messages] : []
		);
		expect(contexts[0]).toBeGreaterThan(1500);
		expect(contexts[0]).toBeLessThan(2500);
		const stored = await rig.store.messages.listForModel('c');
		expect(JSON.stringify(stored).length).toBeLessThan(5000);
		const item = { type: 'message', content: [{ type: 'input_image', image_url: urlOf(png(1, 1, 100_000)) }] };
		expect(createSizeOf()(item).tokens).toBeLessThan(2000);
	});
});

describe('F5: a text that is attached to a message', () => {
	test('is read by any model, at its message, and in later turns with the same bytes', async () => {
		await start([text('Yes.'), text('Still.')]);
		await upload('data/notes.csv', 'name,count\npears,3\n</file_content>');
		await ask('How many pears?', 'data/notes.csv');
		const note = 'The file data/notes.csv:\n<file_content>\nname,count\npears,3\n&lt;/file_content>\n</file_content>';
		expect(sent(1).at(-1)?.content.at(-1)).toEqual({ type: 'input_text', text: note });
		await upload('data/notes.csv', 'name,count\npears,4\n');
		await ask('And now?');
		expect(sent(2).slice(0, sent(1).length)).toEqual(sent(1));
		rig.server.assertDone();
	});

	test('that is too long for a share of the context is there with its beginning, its size and how to read on', async () => {
		await start([text('Long.')], { contextTokens: 40_000 });
		await upload('short.txt', 'x'.repeat(30_000));
		await upload('long.txt', `start ${'y'.repeat(3_000_000)}`);
		await upload('binary.dat', Buffer.from([0xff, 0xfe, 0, 1]));
		await upload('zeros.txt', 'a\0b');
		await ask('What is it?', 'short.txt', 'long.txt', 'binary.dat', 'zeros.txt');
		const texts = sent(1).flatMap(({ content }) => content.map((part) => (part as { text: string }).text));
		const about = (path: string) => texts.filter((each) => each.startsWith(`The file ${path}`));
		expect(about('short.txt').join()).toContain('x'.repeat(30_000));
		const [long = ''] = about('long.txt');
		expect(long).toContain('The file long.txt, 3000006 bytes, the beginning. Read the rest with a tool or a script:');
		expect(long).toContain('start yyy');
		expect(long.length).toBeLessThan(8500);
		expect([...about('binary.dat'), ...about('zeros.txt')]).toEqual([]);
	});
});

describe('F5: a PDF that is attached to a message', () => {
	const files = (request: number) =>
		sent(request).flatMap(({ content }) => content.filter((part) => 'file_data' in part));
	const dataUrl = (bytes: Buffer) => `data:application/pdf;base64,${bytes.toString('base64')}`;

	test('goes whole to a model that takes files, as its text with page numbers to others, whichever answers next', async () => {
		await start([text('One.'), text('Two.'), text('Three.')]);
		await upload('a.pdf', pdf(2));
		const choice = (model: string) => ({ choice: { model } });
		const message = { id: 'm1', text: 'What is it?', files: ['a.pdf'] };
		await rig.run('', { message, ...choice('test/reading') });
		expect(files(1)).toEqual([{ type: 'input_file', filename: 'a.pdf', file_data: dataUrl(pdf(2)) }]);
		await rig.run('Now?', choice('test/blind'));
		expect(files(2)).toEqual([]);
		expect(told(2)).toContain(
			'The text of the PDF a.pdf, 2 pages:\\n<file_content>\\n[Page 1]\\nThis is page 1\\n\\n[Page 2]'
		);
		await rig.run('And now?', choice('test/reading'));
		expect(sent(3).slice(0, sent(1).length)).toEqual(sent(1));
		rig.server.assertDone();
	});

	test('that the server refuses is sent as text, once and in sight', async () => {
		const refusal = status(400, { error: { code: 400, message: 'Invalid file_data' } });
		await start([refusal, text('Text.')]);
		await upload('a.pdf', pdf(1));
		const message = { id: 'm1', text: 'What is it?', files: ['a.pdf'] };
		await rig.run('', { message, choice: { model: 'test/reading' } });
		expect([files(1).length, files(2).length]).toEqual([1, 0]);
		expect(told(2)).toContain('This is page 1');
		rig.server.assertDone();
	});

	test('of 500 pages is read as far as there is room, even by a model that takes files', async () => {
		await start([text('Long.')], { contextTokens: 12_000 });
		await upload(
			'book.pdf',
			pdf(500, (page) => `This is page ${page}, and it goes on`)
		);
		const message = { id: 'm1', text: 'What is it?', files: ['book.pdf'] };
		await rig.run('', { message, choice: { model: 'test/reading' } });
		expect(files(1)).toEqual([]);
		const read = Number(/the first (\d+) of 500 pages\. Scripts can read the rest:/.exec(told(1))?.[1]);
		expect(told(1)).toContain(`This is page ${read},`);
		expect(told(1)).not.toContain(`This is page ${read + 1},`);
		expect(told(1).length).toBeLessThan(30_000);
	});

	test('that is damaged, encrypted or has no text is a sentence, and the question is answered', async () => {
		await start([text('None.'), text('Next.')]);
		await upload('cut.pdf', pdf(3).subarray(0, 200));
		await upload('locked.pdf', pdf(1, undefined, ENCRYPTED));
		await upload(
			'scan.pdf',
			pdf(1, () => '')
		);
		await ask('What are they?', 'cut.pdf', 'locked.pdf', 'scan.pdf');
		expect(told(1)).toContain('The PDF cut.pdf isn’t shown: it’s damaged.');
		expect(told(1)).toContain('The PDF locked.pdf isn’t shown: it’s protected with a password.');
		expect(told(1)).toContain('The PDF scan.pdf (1 page) isn’t shown: it has no text, only pictures of pages.');
		await ask('Next?');
		rig.server.assertDone();
	});
});

test('F5: people are told what a model will be given of each file, and why, before it is sent', async () => {
	await start([]);
	const given = {
		'cat.png': png(),
		'fake.png': 'hello',
		'notes.txt': 'notes',
		'data.bin': Buffer.from([0xff, 0, 1]),
		'long.txt': 'x'.repeat(500_000),
		'a.pdf': pdf(12),
		'cut.pdf': '%PDF-1.4'
	};
	for (const [path, bytes] of Object.entries(given)) await upload(path, bytes);
	const { signal } = new AbortController();
	const seen = async (model: { id: string; takes: (input: string) => Promise<boolean | null> } | null) => {
		const listed = await rig.workspaces.listVersions('c');
		const files = await withSeenAs(listed, rig.workspaces, { conversationId: 'c', model, cap: null, signal });
		return Object.fromEntries(files.map(({ path, seenAs }) => [path, seenAs && [seenAs.as, seenAs.why]]));
	};
	expect(await seen({ id: 'a/b', takes: async () => true })).toEqual({
		'cat.png': ['picture', 'The model sees this picture.'],
		'fake.png': ['name', 'Only its name: it’s no PNG, JPEG, GIF or WebP. Scripts can read it.'],
		'notes.txt': ['text', 'The model reads this file.'],
		'data.bin': ['name', 'Only its name; scripts can read it.'],
		'long.txt': ['text', 'The model reads the beginning; scripts can read all.'],
		'a.pdf': ['file', 'The model reads it, 12 pages.'],
		'cut.pdf': ['name', 'Only its name: it’s damaged.']
	});
	for (const blind of [false, null]) {
		const files = await seen({ id: 'a/b', takes: async () => blind });
		expect(files['cat.png']).toEqual(['unseen', 'a/b can’t see pictures.']);
		expect(files['a.pdf']).toEqual(['text', 'The model reads its text, 12 pages.']);
	}
	expect((await seen(null))['cat.png']).toEqual(['name', 'Skills can read it.']);
});

test('F5: pictures of each format tell their size, and a cut one is no reason to fail', () => {
	const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
	expect(formatOf(png(300, 200))).toEqual({ mediaType: 'image/png', width: 300, height: 200 });
	expect(formatOf(bytes('474946383961 2c01 c800'))).toEqual({ mediaType: 'image/gif', width: 300, height: 200 });
	const jpeg = bytes('ffd8 ffe0 0004 0000 ffc2 0011 08 00c8 012c 03 000000');
	expect(formatOf(jpeg)).toEqual({ mediaType: 'image/jpeg', width: 300, height: 200 });
	expect(formatOf(jpeg.subarray(0, 8))).toEqual({ mediaType: 'image/jpeg' });
	expect(formatOf(bytes(`ffd8 ffe0 0000 ${'00'.repeat(40)}`))?.mediaType).toBe('image/jpeg');
	const webp = (kind: string, rest: string) =>
		formatOf(Buffer.concat([Buffer.from(`RIFF1234WEBP${kind}`), bytes(rest)]));
	expect(webp('VP8X', '0a000000 00000000 2b0100 c70000')).toEqual({ mediaType: 'image/webp', width: 300, height: 200 });
	expect(webp('VP8L', '0a000000 2f 2bc13100 0000000000')).toEqual({ mediaType: 'image/webp', width: 300, height: 200 });
	expect(webp('VP8 ', '0a000000 000000 9d012a 2c01 c800')).toEqual({
		mediaType: 'image/webp',
		width: 300,
		height: 200
	});
	for (const other of ['', '00', '89504e47', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF8', '%PDF-1.7'])
		expect(formatOf(Buffer.from(other))).toBe(null);
});

test('F5: a picture without its metadata has its pixels, colors and orientation; cut or damaged anywhere, it tells no place', () => {
	const chunk = (kind: string, content: string) => {
		const size = Buffer.alloc(4);
		size.writeUInt32BE(content.length);
		return Buffer.concat([size, Buffer.from(`${kind}${content}crc.`)]);
	};
	const riff = (kind: string, content: string) => {
		const size = Buffer.alloc(4);
		size.writeUInt32LE(content.length);
		return Buffer.concat([Buffer.from(kind), size, Buffer.from(content + (content.length % 2 ? '\0' : ''), 'latin1')]);
	};
	const webp = (...chunks: Buffer[]) => {
		const size = Buffer.alloc(4);
		size.writeUInt32LE(4 + Buffer.concat(chunks).length);
		return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from('WEBP'), ...chunks]);
	};
	const start = Buffer.from('89504e470d0a1a0a', 'hex');
	const [header, pixels, last] = [chunk('IHDR', '0123456789012'), chunk('IDAT', '52 pixels'), chunk('IEND', '')];
	const place = ['eXIf', 'tEXt', 'zTXt', 'iTXt'].map((kind) => chunk(kind, '52N13E'));
	const turned = Buffer.from(`ffe100224578696600004d4d002a00000008000101120003000000010006${'00'.repeat(6)}`, 'hex');
	const cases: [string, Buffer, Buffer][] = [
		[
			'image/jpeg',
			PHOTO,
			Buffer.concat([
				...[PHOTO.subarray(0, 20), turned, segment(0xe2, 'ICC_PROFILE\0\x01\x01colors')],
				...[FRAME, SCAN, SCAN, END]
			])
		],
		[
			'image/png',
			Buffer.concat([start, header, ...place, pixels, ...place, last, ...place]),
			Buffer.concat([start, header, pixels, last])
		],
		[
			'image/webp',
			webp(
				riff('VP8X', `\x1c${'\0'.repeat(9)}`),
				riff('VP8 ', 'pixel'),
				riff('EXIF', '52N13E!'),
				riff('XMP ', '52N13E')
			),
			webp(riff('VP8X', `\x10${'\0'.repeat(9)}`), riff('VP8 ', 'pixel'))
		]
	];
	for (const [type, whole, plain] of cases) {
		expect(withoutMetadata(whole, type)).toEqual(plain);
		expect(withoutMetadata(plain, type)).toEqual(plain);
		for (let at = 12; at < whole.length; at += 1) {
			expect(withoutMetadata(whole.subarray(0, at), type)?.includes('52N13E') ?? false).toBe(false);
			for (const value of [0, 0x7f, 0xff]) {
				const damaged = Buffer.from(whole);
				damaged[at] = value;
				expect(() => withoutMetadata(damaged, type)).not.toThrow();
			}
		}
	}
});

describe('F5: a picture that a model makes', () => {
	const PAINTER = {
		id: 'test/model',
		architecture: { input_modalities: ['text', 'image'], output_modalities: ['text', 'image'] }
	};
	const base64 = png(10, 10, 5000).toString('base64');
	const made = (result: unknown, more: object = {}) =>
		item('image_generation_call', { id: 'ig_1', status: 'completed', result, ...more });
	const startPainter = (script: Reply[], options: RigOptions = {}) => start(script, { models: [PAINTER], ...options });
	const stepOf = async (runId: string) => (await rig.answer(runId)).parts.find((part) => part.type === 'tool');

	test.each([
		['as base64', base64],
		['as a data URL', `data:image/png;base64,${base64}`]
	])(
		'%s is a file of the conversation, shown with its step, and stands nowhere else; the next request has it again',
		async (_as, result) => {
			await startPainter([text('Hi.'), [made(result), text('Here.')], text('Yes.')]);
			await ask('Hello');
			const { runId, list } = await ask('Draw a cat');
			expect(await stepOf(runId)).toMatchObject({
				name: 'image_generation_call',
				status: 'done',
				files: [{ path: 'picture-1.png', bytes: png(10, 10, 5000).length }]
			});
			const { file } = await rig.workspaces.read('c', 'picture-1.png');
			expect(await file.readFile().finally(() => file.close())).toEqual(png(10, 10, 5000));
			const stored = JSON.stringify([list, await rig.store.messages.listForModel('c', (await rig.answer(runId)).id)]);
			expect(stored).not.toContain(base64.slice(0, 200));
			await upload('picture-1.png', png(20, 20));
			await ask('Is it nice?');
			expect(sent(3)).toContainEqual({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result });
			expect(rig.server.requests[2]?.body.modalities).toEqual(['image', 'text']);
			rig.server.assertDone();
		}
	);

	test.each([
		['that is none', Buffer.from('<svg onload=alert(1)>').toString('base64'), /isn’t a picture/],
		['that is too large', 'A'.repeat(15 * 1024 * 1024), /larger than 10 MB/],
		['that the model’s server did not finish', null, /./]
	])('%s is a failed step with a sentence, and the next message works', async (_what, result, sentence) => {
		const more = result === null ? { status: 'failed', error: 'The prompt was refused.' } : {};
		await startPainter([[made(result, more), text('Sorry.')], text('Fine.')]);
		const { runId } = await ask('Draw');
		expect(await stepOf(runId)).toMatchObject({ status: 'failed', result: expect.stringMatching(sentence) });
		expect((await rig.answer(runId)).status).toBe('complete');
		const next = await ask('And now?');
		expect((await rig.answer(next.runId)).status).toBe('complete');
		expect(told(2)).not.toContain('image_generation_call');
		expect(await rig.workspaces.list('c')).toEqual([]);
	});

	test('that finds the disk full is a failed step with a sentence', async () => {
		await startPainter([[made(base64), text('Sorry.')], text('Fine.')]);
		rig.workspaces.write = () => Promise.reject(new AppError('storage_full', 'The disk is full.'));
		const { runId } = await ask('Draw');
		expect(await stepOf(runId)).toMatchObject({ status: 'failed', result: 'Couldn’t save it. The disk is full.' });
		await ask('And now?');
		rig.server.assertDone();
	});

	test('that breaks off with its answer is a failed step; the next message works, also with another model', async () => {
		const added = {
			type: 'response.output_item.added',
			output_index: 0,
			item: { type: 'image_generation_call', id: 'ig_1', status: 'in_progress' }
		};
		await startPainter([raw(added), [made(base64), text('Here.')], text('Yes.')]);
		const broken = await ask('Draw');
		expect(await stepOf(broken.runId)).toMatchObject({
			status: 'failed',
			result: expect.stringContaining('ended before')
		});
		expect((await rig.answer(broken.runId)).error?.code).toBe('stream_truncated');
		await ask('Again');
		const { runId } = await rig.run('Nice?', { choice: { model: 'test/other' } });
		expect((await rig.answer(runId)).status).toBe('complete');
		expect(told(3)).not.toContain('image_generation_call');
	});
});

describe('F5: a picture that a script has drawn', () => {
	const look = (path: string) => call('look_at_file', { path });
	const offered = (request: number) =>
		(rig.server.requests[request - 1]!.body.tools as { name: string }[]).map(({ name }) => name);
	const outputs = (request: number) =>
		(sent(request) as { type?: string; output?: unknown }[]).flatMap(({ type, output }) =>
			type === 'function_call_output' ? [output] : []
		);
	const storedOf = async (runId: string) => rig.store.messages.listForModel('c', (await rig.answer(runId)).id);

	test('can be looked at; later turns have the same bytes, and no bytes are stored', async () => {
		const chart = png(10, 10, 5000);
		await start([look('./out/chart.png'), text('The labels overlap.'), text('Yes.')]);
		await upload('out/chart.png', chart);
		const { runId, list } = await ask('Check the chart');
		const seen = [
			{ type: 'input_text', text: 'The picture out/chart.png:' },
			{ type: 'input_image', detail: 'auto', image_url: urlOf(chart) }
		];
		expect(outputs(2)).toEqual([seen]);
		await upload('out/chart.png', png(20, 20));
		await ask('Sure?');
		expect(sent(3).slice(0, sent(2).length)).toEqual(sent(2));
		const stored = JSON.stringify([list, await storedOf(runId)]);
		expect(stored).not.toContain(chart.toString('base64').slice(0, 60));
		const step = (await rig.answer(runId)).parts.find((part) => part.type === 'tool');
		const digest = hash('sha256', chart);
		expect(step).toMatchObject({ status: 'done', files: [{ path: 'out/chart.png', seen: digest }] });
		expect(filesOf(step!)).toEqual([]);
		rig.server.assertDone();
	});

	test('is not offered to a model that cannot see, of which nobody knows, or in a request that names its tools', async () => {
		await start([look('chart.png'), text('One.'), text('Two.'), text('Three.'), text('Four.')]);
		await upload('chart.png', png());
		await ask('Check the chart');
		await rig.run('Blind?', { choice: { model: 'test/blind' } });
		await rig.run('Unknown?', { choice: { model: 'test/unknown' } });
		await rig.run('Named?', { choice: { model: 'test/model' }, policy: { builtins: [] } });
		const has = [1, 2, 3, 4, 5].map((request) => offered(request).includes('look_at_file'));
		expect(has).toEqual([true, true, false, false, false]);
		expect(outputs(3)).toEqual([
			expect.stringMatching(/^The picture chart.png:\nchart.png isn’t shown, because you can’t see/)
		]);
		rig.server.assertDone();
	});

	test.each([
		['that is missing', 'none.png', /has no file “none.png”/],
		['outside of the folder', '../../app.sqlite', /isn’t a valid file name/],
		['behind a link', 'link.png', /has no file|link/],
		['that is no picture', 'text.png', /isn’t a PNG, JPEG, GIF or WebP/],
		['that is an SVG', 'chart.svg', /Write the picture as a PNG/],
		['that is damaged', 'damaged.png', /it’s damaged/],
		['with too many pixels', 'wide.png', /larger than 8000 pixels/],
		['with too many bytes', 'heavy.png', /larger than 5 MB/]
	])('%s is a sentence', async (_what, path, sentence) => {
		await start([look(path), text('I can’t.')]);
		await upload('text.png', 'Not a picture.');
		await upload('chart.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
		await upload('damaged.png', png(0, 10));
		await upload('wide.png', png(8001, 10));
		await upload('heavy.png', png(10, 10, 5 * 1024 * 1024));
		await writeFile(join(rig.root, 'secret.png'), png());
		await symlink(join(rig.root, 'secret.png'), join(rig.workspaces.path('c'), 'link.png'));
		const { runId } = await ask('Check it');
		expect(outputs(2)).toEqual([expect.stringMatching(sentence)]);
		expect((await rig.answer(runId)).parts[0]).toMatchObject({ status: 'failed' });
	});

	test('that cannot be kept is a sentence', async () => {
		await start([look('chart.png'), text('I can’t.')]);
		await upload('chart.png', png());
		rig.workspaces.keepVersions = async () => undefined;
		await ask('Check it');
		expect(outputs(2)).toEqual([expect.stringContaining('no room to keep it')]);
	});

	test('may be looked at as often as it changes; what no longer fits the context is a sentence', async () => {
		const drawn = Array.from({ length: 7 }, (_each, index) => png(10 + index, 10));
		await start([...drawn.map(() => look('chart.png')), text('Good now.')], { contextTokens: 12_000 });
		await upload('chart.png', drawn[0]!);
		const read = rig.workspaces.read;
		let looks = 0;
		rig.workspaces.read = async (id, path, version) => {
			// The chart is redrawn before each look.
			if (version === undefined) await upload('chart.png', drawn[looks++]!);
			return read(id, path, version);
		};
		const { list } = await ask('Improve the chart');
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success' } });
		expect(looks).toBe(7);
		expect(outputs(8).filter((output) => String(output).includes('was removed to make room'))).not.toEqual([]);
		expect(shown(8).length + (outputs(8).at(-1) as object[]).filter((part) => 'image_url' in part).length).toBe(1);
		rig.server.assertDone();
	});
});
