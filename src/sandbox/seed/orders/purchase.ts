import type { Package } from '../../interface/schemas.ts';
import type { MerchantProfile, Product, ScriptedOrder } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';

/** What an order is about: its goods, what they cost and how they are packed. */
export interface Purchase {
  sellingPriceCents: number;
  package: Package;
}

/** Above this, people buy one piece, and pay beforehand. */
export const costlyCents = 200_000_000;
const maxContentLength = 128;
const packagingKg = 0.15;
/** Ordinary boxes by the kilograms that they hold. */
const boxes: readonly (readonly [number, readonly [number, number, number]])[] = [
  [1, [22, 16, 10]],
  [3, [30, 22, 15]],
  [8, [40, 30, 22]],
  [30, [60, 40, 30]],
];

/** The shares in which quantities are bought. */
const quantities = [
  [1, 60],
  [2, 25],
  [3, 10],
  [6, 3],
  [12, 2],
] as const;

export function makePurchase({ products }: MerchantProfile, script: ScriptedOrder, random: Random): Purchase {
  const chosen = random.byShare(products);
  const product = script.product ? products.find(({ name }) => name === script.product) : products[chosen];
  if (!product) throw new RangeError(`There is no product ${script.product ?? chosen}`);
  const wanted = random.weighted(quantities);
  const quantity = script.quantity ?? (product.priceCents > costlyCents / 5 ? 1 : wanted);
  const priceCents = product.priceCents * quantity;
  const sellingPriceCents = script.sellingPriceCents ?? priceCents;
  const weightKg = Math.round((product.weightKg * quantity + packagingKg) * 100) / 100;
  const contentDescription = script.contentDescription ?? `${quantity} × ${product.name}`;
  return {
    sellingPriceCents,
    package: {
      declaredValueCents: sellingPriceCents,
      dimensions: dimensionsOf(product, quantity, weightKg),
      weightKg,
      contentDescription: contentDescription.slice(0, maxContentLength),
    },
  };
}

function dimensionsOf({ box }: Product, quantity: number, weightKg: number): Package['dimensions'] {
  const ordinary = boxes.find(([holdsKg]) => weightKg <= holdsKg)?.[1] ?? [60, 60, 60];
  const [lengthCm, widthCm, heightCm] = box ? [box[0], box[1], box[2] * quantity] : ordinary;
  return { lengthCm, widthCm, heightCm };
}
