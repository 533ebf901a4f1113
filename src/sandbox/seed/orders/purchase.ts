import type { Package } from '../../interface/schemas.ts';
import type { MerchantProfile, Product, ScriptedOrder } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';

/** The goods of an order: price and package. */
export interface Purchase {
  sellingPriceCents: number;
  package: Package;
}

/** Above this price, customers pay in advance. Above a fifth of it, they buy one piece. */
export const expensiveCents = 200_000_000;
const maxContentLength = 128;
const packagingKg = 0.15;
/** Box sizes: the most kilograms, then length, width and height in cm. */
const boxes: readonly (readonly [number, readonly [number, number, number]])[] = [
  [1, [22, 16, 10]],
  [3, [30, 22, 15]],
  [8, [40, 30, 22]],
  [30, [60, 40, 30]],
];

/** Quantities with their weights. */
const quantityWeights = [
  [1, 60],
  [2, 25],
  [3, 10],
  [6, 3],
  [12, 2],
] as const;

/**
 * Generates the goods of an order. Fields of the script take precedence. The random values are drawn in either case, so a
 * field of a script changes no other order.
 */
export function createPurchase(
  { products }: MerchantProfile,
  script: ScriptedOrder,
  random: Random,
): Purchase {
  const randomProductIndex = random.byShare(products);
  const product = script.product
    ? products.find(({ name }) => name === script.product)
    : products[randomProductIndex];
  if (!product) throw new RangeError(`There is no product ${script.product ?? randomProductIndex}`);
  const randomQuantity = random.weighted(quantityWeights);
  const quantity = script.quantity ?? (product.priceCents > expensiveCents / 5 ? 1 : randomQuantity);
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
  const fittingBox = boxes.find(([maxKg]) => weightKg <= maxKg)?.[1] ?? [60, 60, 60];
  const [lengthCm, widthCm, heightCm] = box ? [box[0], box[1], box[2] * quantity] : fittingBox;
  return { lengthCm, widthCm, heightCm };
}
