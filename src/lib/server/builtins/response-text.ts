/** The body of an answer as a model can read it: text by its charset, anything else as base64 (FEATURES D28). */
import { isUtf8 } from 'node:buffer';

export interface ReadableBody {
	body: string;
	encoding: 'utf8' | 'base64';
}

const TEXT_TYPES =
	/^(text\/|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|x-www-form-urlencoded)$)|[+](json|xml|yaml)$/;

/** `truncated`: the last character may be cut; it is left out. */
export function readableBody(body: Buffer, contentType: string | undefined, truncated: boolean): ReadableBody {
	const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
	const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]+)/.exec(each)?.[1]).find(Boolean);
	const isText = TEXT_TYPES.test(type.trim()) || (charset !== undefined && type.trim() !== 'application/octet-stream');
	const isPlain = type.trim() === '' && isUtf8(body) && !body.includes(0);
	const decoder = isText || isPlain ? decoderOf(charset ?? charsetOfMark(body)) : null;
	if (!decoder) return { body: body.toString('base64'), encoding: 'base64' };
	return { body: decoder.decode(body, { stream: truncated }), encoding: 'utf8' };
}

/** UTF-8 for a charset that nobody knows: what is not, stands there as replacement characters. */
function decoderOf(charset: string): TextDecoder {
	try {
		return new TextDecoder(charset);
	} catch (error) {
		if (error instanceof RangeError) return new TextDecoder();
		throw error;
	}
}

function charsetOfMark(body: Buffer): string {
	const mark = body.subarray(0, 2).toString('hex');
	return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
}
