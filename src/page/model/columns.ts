// Reads columns of numbers in the format of src/render/page/page_columns.h.

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
	const native = (Uint8Array as unknown as { fromBase64?(text: string): Uint8Array<ArrayBuffer> }).fromBase64;

	if (native)
		return native.call(Uint8Array, text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers above 2^53 are rounded, because doubles are not exact there; only forged traces have such numbers.
function decode(bytes: Uint8Array): Float64Array {
	let count = 0;

	for (let i = 0; i < bytes.length; i++)
		count += bytes[i] < 128 ? 1 : 0;
	const values = new Float64Array(count);
	let at = 0;

	for (let k = 0; k < count; k++) {
		let byte = bytes[at++];
		let value = byte & 127;

		for (let scale = 128; byte >= 128; scale *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
		}
		values[k] = value;
	}
	return values;
}

// Removes the element after reading it, because its text takes as much memory as the column.
export async function readColumn(id: string): Promise<Float64Array> {
	const element = document.getElementById(id);
	const text = element?.textContent ?? "";

	element?.remove();
	return text ? decode(await inflate(fromBase64(text))) : new Float64Array(0);
}

// Turns differences into values. In the column, 0, 1, 2, 3 ... stand for the differences 0, -1, 1, -2 ...
export function undoDelta(values: Float64Array): Float64Array {
	let last = 0;

	for (let i = 0; i < values.length; i++) {
		const coded = values[i];

		last += coded % 2 ? -(coded + 1) / 2 : coded / 2;
		values[i] = last;
	}
	return values;
}
