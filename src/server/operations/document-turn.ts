import type { ServerResponse } from 'node:http';
import type { Owner } from '../../concurrency/owner.ts';
import { SimpleRequest } from '../../concurrency/semaphore.ts';
import type { HttpError } from '../http/http-error.ts';
import type { Admission } from './admission.ts';

// To parse and validate a typical document takes 1 to 2 ms.
const nodesPerDocument = 100;

/**
 * Waits until an owner may have a new document parsed and validated, which holds the event loop.
 * @returns the error if the request may not wait
 */
export function waitForDocumentTurn(
  admission: Admission,
  owner: Owner,
  response: ServerResponse,
): Promise<HttpError | undefined> {
  return new Promise((resolve) => {
    const step = new SimpleRequest(owner, nodesPerDocument, () => {
      // The turn is all that is needed: parsing and validating follow at once, without a wait that a slot would bound.
      admission.leave(step, response);
      resolve(undefined);
    });
    const outcome = admission.enter(step, response);
    if (outcome === 'started') step.onSlotGranted();
    else if (outcome !== 'waiting') resolve(outcome);
  });
}
