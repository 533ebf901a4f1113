/**
 * Reads the PDF of a label, `Label.pdfUrl`. A plain link cannot send the access token.
 * @param waybillFetch that of `createWaybillFetch`
 * @returns an address for a frame or a link. Free it with `URL.revokeObjectURL`.
 * @throws Error with the message of the server
 */
export async function labelAddress(pdfUrl: string, waybillFetch: typeof fetch): Promise<string> {
  const response = await waybillFetch(pdfUrl);
  if (!response.ok) throw new Error((await response.json()).errors[0].message);
  return URL.createObjectURL(await response.blob());
}
