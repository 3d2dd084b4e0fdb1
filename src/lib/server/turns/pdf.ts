/** Reads the text of a PDF in a worker: a file may be slow, damaged or made to do harm. This file is that worker, too. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createLine } from '../../shared/in-turn.ts';

export interface PdfText {
	pages: number;
	/** The first pages, as far as there was room and time. */
	texts: string[];
}

interface Task {
	pdf: Uint8Array;
	maxCharacters: number;
	maxMs: number;
}

const MAX_MS = 8_000;
/** Then it's ended, whatever it does. */
const LAST_MS = 20_000;
const MAX_MEMORY_MB = 512;

/** One at a time, because each may use a whole processor. */
const inTurn = createLine();

/** A sentence if it can't be read. Never rejects. */
export function readPdf(pdf: Buffer, maxCharacters: number): Promise<PdfText | string> {
	return inTurn(() => readInWorker({ pdf, maxCharacters, maxMs: MAX_MS }));
}

function readInWorker(pdfTask: Task): Promise<PdfText | string> {
	const { promise, resolve } = Promise.withResolvers<PdfText | string>();
	const worker = new Worker(new URL(import.meta.url), {
		workerData: { pdfTask },
		env: {},
		execArgv: [],
		resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB }
	});
	const timer = setTimeout(() => resolve('it takes too long to read.'), LAST_MS);
	worker.once('message', resolve);
	worker.once('error', () => resolve('it’s damaged.'));
	worker.once('exit', () => resolve('it’s damaged.'));
	return promise.finally(async () => {
		clearTimeout(timer);
		await worker.terminate();
	});
}

async function read({ pdf, maxCharacters, maxMs }: Task): Promise<PdfText | string> {
	const end = performance.now() + maxMs;
	try {
		const { getDocumentProxy } = await import('unpdf');
		const document = await getDocumentProxy(pdf, { verbosity: 0 });
		const texts: string[] = [];
		let left = maxCharacters;
		for (let number = 1; number <= document.numPages && left > 0 && performance.now() < end; number += 1) {
			const page = await document.getPage(number);
			const { items } = await page.getTextContent();
			const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
			texts.push(text.trim().slice(0, left).toWellFormed());
			left -= text.length;
			page.cleanup();
		}
		return { pages: document.numPages, texts };
	} catch (error) {
		const isLocked = error instanceof Error && error.name === 'PasswordException';
		return isLocked ? 'it’s protected with a password.' : 'it’s damaged.';
	}
}

const given = workerData as { pdfTask?: Task } | null;
if (!isMainThread && given?.pdfTask) parentPort?.postMessage(await read(given.pdfTask));
