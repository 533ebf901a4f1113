import { decodePDFRawStream, PDFDocument, PDFRawStream } from '@cantoo/pdf-lib';
import { expect, test } from 'vitest';
import { type LabelInput, renderLabel } from '../../../src/sandbox/label/label.ts';

const input: LabelInput = {
  shipment: {
    name: 'shipments/ca2036',
    createTime: '2026-11-10T02:30:00.000Z',
    updateTime: '2026-11-10T02:30:00.000Z',
    quote: 'quotes/ca2139',
    courier: 'couriers/condor-veloz',
    origin: 'origins/ca1',
    recipient: {
      firstName: 'Lucía',
      lastName: 'Ñáñez Peñalosa',
      documentType: 'CC',
      document: '1017234567',
      email: 'lucia.nanez@example.com',
      phoneNumber: '+573104567890',
      address: {
        regionCode: 'CO',
        administrativeArea: 'Antioquia',
        locality: 'Medellín (Laureles)',
        addressLines: ['Circular 4 # 70-28', 'Apto 502'],
        organization: 'Panadería La Espiga',
      },
    },
    requiresPickup: true,
    status: 'LABEL_GENERATED',
    shipmentCostCents: 1_155_000,
    cashOnDeliveryCostCents: 350_000,
    totalCostCents: 1_505_000,
    label: 'labels/ca2036',
  },
  origin: {
    name: 'origins/ca1',
    location: 'locations/bogota-dc-puente-aranda',
    address: {
      regionCode: 'CO',
      administrativeArea: 'Bogotá D.C.',
      locality: 'Bogotá D.C. (Puente Aranda)',
      addressLines: ['Calle 13 # 60-42', 'Bodega 7'],
      organization: 'Café Andino',
    },
  },
  originLocation: {
    name: 'locations/bogota-dc-puente-aranda',
    address: { regionCode: 'CO', administrativeArea: 'Bogotá D.C.', locality: 'Bogotá D.C. (Puente Aranda)' },
  },
  courierName: 'Cóndor Veloz',
  cashOnDeliveryCents: 11_670_000,
  contentDescription: '3 × Café de Huila',
  referenceId: '5320321908408',
};

/** What is drawn: each text as the standard fonts encode it, and each rectangle. */
async function drawingOf(bytes: Uint8Array) {
  const document = await PDFDocument.load(bytes, { updateMetadata: false });
  const drawn = document.context
    .enumerateIndirectObjects()
    .flatMap(([, object]) => (object instanceof PDFRawStream ? [decodePDFRawStream(object).decode()] : []))
    .map((stream) => Buffer.from(stream).toString('latin1'))
    .join('\n');
  const texts = [...drawn.matchAll(/<([0-9A-F]*)> Tj/g)].map(([, hex = '']) =>
    new TextDecoder('windows-1252').decode(Buffer.from(hex, 'hex')),
  );
  return { document, drawn, texts };
}

test('a label is one page of 100 by 150 mm with a title and an author', async () => {
  const { document } = await drawingOf(await renderLabel(input));
  const millimetres = (points: number) => Math.round((points * 25.4) / 72);
  const { width, height } = document.getPage(0).getSize();
  expect(document.getPageCount()).toBe(1);
  expect([width, height].map(millimetres)).toEqual([100, 150]);
  expect([document.getTitle(), document.getAuthor()]).toEqual(['Guía ca2036', 'Cóndor Veloz']);
});

test.each([
  ['couriers/rutandina', [[101.6, 152.4, 0]]],
  ['couriers/tierra-firme', [[105, 148, 0]]],
  ['couriers/mareazul', [[148, 210, 0]]],
  ['couriers/colibri-urbano', [[80, 120, 0]]],
  // Stored on its side, with a rotation for viewers.
  ['couriers/tres-cordilleras', [[150, 100, 90]]],
  [
    'couriers/chasqui-carga',
    [
      [100, 150, 0],
      [100, 150, 0],
    ],
  ],
])('a label has the form of its courier: %s', async (courier, expected) => {
  const bytes = await renderLabel({ ...input, shipment: { ...input.shipment, courier } });
  const { document, texts } = await drawingOf(bytes);
  const tenths = (points: number) => Math.round((points * 254) / 72) / 10;
  const pages = document
    .getPages()
    .map((page) => [tenths(page.getWidth()), tenths(page.getHeight()), page.getRotation().angle]);
  expect(pages).toEqual(expected);
  expect(texts.filter((text) => text === 'ca2036')).toHaveLength(pages.length);
});

test('a label shows the recipient, the sender, the contents and the amount due', async () => {
  const { texts } = await drawingOf(await renderLabel(input));
  expect(texts).toEqual([
    'Cóndor Veloz',
    'Guía de transporte',
    'ca2036',
    'DESTINATARIO',
    'Lucía Ñáñez Peñalosa',
    'Panadería La Espiga',
    'Circular 4 # 70-28',
    'Apto 502',
    'Medellín (Laureles), Antioquia',
    'Tel. +573104567890 · CC 1017234567',
    'REMITENTE',
    'Café Andino',
    'Calle 13 # 60-42 · Bodega 7',
    'Bogotá D.C. (Puente Aranda), Bogotá D.C.',
    'CONTENIDO',
    '3 × Café de Huila',
    'FECHA',
    '09/11/2026',
    'REFERENCIA',
    '5320321908408',
    'RECOGIDA',
    'En el origen',
    'COBRAR AL ENTREGAR',
    '$ 116.700 COP',
  ]);
});

test('a label without cash on delivery or a reference says so', async () => {
  const { referenceId: _, ...unreferenced } = input;
  const { texts } = await drawingOf(await renderLabel({ ...unreferenced, cashOnDeliveryCents: 0 }));
  expect(texts).toContain('SIN RECAUDO');
  expect(texts).toContain('Sin referencia');
  expect(texts.some((text) => text.includes('COP'))).toBe(false);
});

test('a label has the same bytes for the same shipment', async () => {
  const bytes = Buffer.from(await renderLabel(input));
  expect(Buffer.from(await renderLabel(structuredClone(input))).equals(bytes)).toBe(true);
  const other = { ...input, shipment: { ...input.shipment, name: 'shipments/ca2037' } };
  expect(Buffer.from(await renderLabel(other)).equals(bytes)).toBe(false);
});

test('a label shows the identifier as a Code 128 barcode', async () => {
  const { drawn } = await drawingOf(await renderLabel(input));
  // The bars are the only filled shapes as high as this.
  const bar =
    /1 0 0 1 ([\d.]+) [\d.]+ cm\n(?:1 0 0 -?1 0 0 cm\n)*0 0 0 rg\n\[\] 0 d\n0 0 m\n([\d.]+) 0 l\n[\d.]+ 64 l/g;
  const bars = [...drawn.matchAll(bar)].map(([, x, width]) => [Number(x), Number(width)] as const);
  const module = Math.min(...bars.map(([, width]) => width));
  const widths = bars.flatMap(([x, width], index) => {
    const next = bars[index + 1];
    return [width, ...(next ? [next[0] - x - width] : [])].map((length) => Math.round(length / module));
  });
  expect(decodeCode128(widths)).toBe('ca2036');
});

test('a label replaces characters that the fonts lack', async () => {
  const { recipient } = input.shipment;
  const named = { ...recipient, firstName: 'Jose\u0301 🎂', lastName: 'نادية\n👩‍👩‍👧' };
  const { texts } = await drawingOf(
    await renderLabel({ ...input, shipment: { ...input.shipment, recipient: named } }),
  );
  expect(texts).toContain('José ? ????? ?');
});

test('a label keeps long texts within its borders', async () => {
  const long = 'Wásñ '.repeat(400);
  const { recipient } = input.shipment;
  const address = {
    ...recipient.address,
    addressLines: [long, 'W'.repeat(500)],
    organization: long,
    locality: long,
  };
  const shipment = {
    ...input.shipment,
    recipient: { ...recipient, firstName: long, lastName: long, address },
  };
  const bytes = await renderLabel({
    ...input,
    shipment: { ...shipment, name: `shipments/${'x'.repeat(128)}` },
    courierName: long,
    contentDescription: 'W'.repeat(128),
    referenceId: 'R'.repeat(300),
    cashOnDeliveryCents: Number.MAX_SAFE_INTEGER,
  });
  const { document, drawn, texts } = await drawingOf(bytes);
  const font = await document.embedFont('Helvetica-Bold');
  const { width, height } = document.getPage(0).getSize();
  const places = [...drawn.matchAll(/([\d.]+) Tf[\s\S]*?1 0 0 1 ([\d.]+) ([\d.]+) Tm/g)].map((match) =>
    match.slice(1).map(Number),
  );
  expect(places.length).toBe(texts.length);
  for (const [index, [size = Number.NaN, x = Number.NaN, y = Number.NaN]] of places.entries()) {
    // Bold is at least as wide as regular, so the latter is held a little too strictly.
    expect(x + font.widthOfTextAtSize(texts[index] ?? '', size)).toBeLessThan(width + 14);
    expect(y).toBeGreaterThan(9);
    expect(y + size).toBeLessThan(height);
  }
  expect(texts).toContain('$ 90.071.992.547.409,91 COP');
  expect(texts.filter((text) => text.endsWith('…')).length).toBeGreaterThan(5);
});

/** Reads the code sets B and C, with bar and gap widths in modules. */
function decodeCode128(widths: readonly number[]): string {
  // Each symbol is six widths; the stop at the end is seven.
  const symbols = Array.from({ length: (widths.length - 7) / 6 }, (_, index) =>
    patterns.indexOf(widths.slice(index * 6, index * 6 + 6).join('')),
  );
  const [start = -1, ...rest] = symbols;
  const checksum = rest.pop();
  expect(checksum).toBe(rest.reduce((sum, symbol, index) => sum + symbol * (index + 1), start) % 103);
  let digits = start === 105;
  return rest
    .map((symbol) => {
      if (symbol === 99 || symbol === 100) digits = symbol === 99;
      else return digits ? String(symbol).padStart(2, '0') : String.fromCharCode(symbol + 32);
      return '';
    })
    .join('');
}

const patterns = (
  '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 ' +
  '123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 ' +
  '232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 ' +
  '313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 ' +
  '111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 ' +
  '111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 ' +
  '114311 411113 411311 113141 114131 311141 411131 211412 211214 211232'
).split(' ');
