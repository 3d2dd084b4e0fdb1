/** Certificates for servers of tests, made by openssl. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A certificate for `localhost`, and that of the authority that has signed it, in a folder. @throws without openssl */
export async function makeCertificates(
	folder: string
): Promise<{ authority: string; certificate: string; key: string }> {
	const paths = {
		authority: join(folder, 'ca.pem'),
		certificate: join(folder, 'own.pem'),
		key: join(folder, 'own.key')
	};
	const run = (...args: string[]) => promisify(execFile)('openssl', args);
	const request = ['req', '-newkey', 'rsa:2048', '-nodes'];
	const authorityKey = join(folder, 'ca.key');
	await run(...request, '-x509', '-subj', '/CN=authority', '-keyout', authorityKey, '-out', paths.authority);
	const asked = join(folder, 'own.csr');
	await run(...request, '-subj', '/CN=localhost', '-keyout', paths.key, '-out', asked);
	const extensions = join(folder, 'extensions');
	await writeFile(extensions, 'subjectAltName=DNS:localhost\n');
	const signedBy = ['-CA', paths.authority, '-CAkey', authorityKey, '-CAcreateserial', '-extfile', extensions];
	await run('x509', '-req', '-in', asked, ...signedBy, '-out', paths.certificate);
	return paths;
}
