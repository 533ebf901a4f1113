import type { MerchantProfile } from './merchant-profile.ts';

/** The cents of a peso. */
const cop = 100;

/**
 * Sur Textil: a younger and smaller shop that sells clothes from Itagüí and Pasto.
 * `MerchantProfile` explains the fields. Orders are scripted so that tests and pages can name one of each kind.
 */
export const surTextil: MerchantProfile = {
  prefix: 'st',
  token: 'sandbox-sur-textil',
  seed: 19_870_302,
  organization: { name: 'organization/sur-textil', balanceCents: 96_450_00_000, creditLimitCents: 0 },
  tradeName: 'Sur Textil',
  storeUrl: 'https://sur-textil.example',
  orders: { count: 300, days: 120, today: 5 },
  customers: {
    count: 110,
    scripted: [
      {
        firstName: 'Ánderson',
        lastName: 'Güiza Ordóñez',
        documentType: 'CC',
        document: '1085276543',
        phoneNumber: '+573157654321',
        location: 'locations/narino-pasto-comuna-1',
        addressLines: ['Calle 18 # 25-40', 'Pasaje El Liceo, local 12'],
      },
      {
        firstName: 'Almacén',
        lastName: 'Doña Rosalba',
        documentType: 'NI',
        document: '800321654',
        phoneNumber: '+573168889900',
        location: 'locations/norte-de-santander-ocana',
        addressLines: ['Carrera 12 # 10-31', 'Centro, junto a la catedral'],
      },
    ],
    phonePrefixes: ['+57315', '+57316', '+57317', '+57318', '+57320', '+57321'],
  },
  origins: [
    { location: 'locations/antioquia-itagui', addressLines: ['Carrera 50A # 37-22', 'Bodega 11'], share: 75 },
    {
      location: 'locations/narino-pasto',
      addressLines: ['Calle 20 # 29-14', 'Taller, segundo piso'],
      share: 25,
    },
  ],
  products: [
    { name: 'Ruana de lana virgen, talla única', priceCents: 189_000 * cop, weightKg: 1.4, share: 16 },
    { name: 'Camisa de lino blanca, talla M', priceCents: 129_900 * cop, weightKg: 0.4, share: 22 },
    { name: 'Jean clásico azul, talla 32', priceCents: 119_000 * cop, weightKg: 0.8, share: 20 },
    { name: 'Vestido bordado «Carnaval» 🎭', priceCents: 245_000 * cop, weightKg: 0.7, share: 12 },
    { name: 'Medias de algodón, paquete de 6 🧦', priceCents: 32_000 * cop, weightKg: 0.3, share: 18 },
    {
      name: 'Uniforme de colegio, 20 piezas',
      priceCents: 1_460_000 * cop,
      weightKg: 12,
      box: [60, 40, 40],
      share: 4,
    },
    {
      name: 'Máquina de coser industrial',
      priceCents: 23_400_000 * cop,
      weightKg: 44,
      box: [75, 45, 55],
      share: 1,
    },
    {
      name: 'Telar mecánico de 12 lizos',
      priceCents: 64_800_000 * cop,
      weightKg: 420,
      box: [220, 150, 180],
      share: 0.4,
    },
  ],
  notes: [
    'Sin observaciones',
    'Confirmar la talla antes de despachar',
    'Cambio por garantía: recoger la prenda anterior',
    'El cliente pide empaque de regalo 🎁',
    'Entregar en el almacén de 9 a. m. a 5 p. m.',
    'No doblar el cuello de la camisa, por favor',
    'Llamar al llegar a la portería 📞',
  ],
  scripted: {
    299: { shipment: 'GENERATING_LABEL' },
    298: { shipment: null, quoted: true },
    297: { shipment: 'LABEL_GENERATED' },
    294: { shipment: 'SCHEDULED_PICKUP' },
    292: { shipment: 'CANCELLATION_REQUESTED' },
    290: {
      customer: 0,
      product: 'Ruana de lana virgen, talla única',
      shipment: 'OUT_FOR_DELIVERY',
      referenced: true,
    },
    289: { shipment: 'AT_ORIGIN_TERMINAL' },
    287: { shipment: 'READY_FOR_PICKUP' },
    285: { shipment: 'WITH_ERROR' },
    283: { shipment: 'IN_PROGRESS' },
    281: { shipment: 'AT_DESTINATION_TERMINAL' },
    280: { customer: 1, product: 'Máquina de coser industrial', quantity: 1, shipment: 'DELIVERED' },
    275: { customer: 1, product: 'Telar mecánico de 12 lizos', quantity: 1, shipment: null, quoted: true },
  },
  channels: [
    { active: true, phoneNumber: '+576025550163', templates: 8 },
    { active: false, phoneNumber: '+576025550164', templates: 6 },
  ],
  conversations: {
    count: 12,
    lengths: { 12: 45, 11: 0, 10: 8 },
    customers: { 12: 0, 10: 1 },
    showcase: 12,
    withDeletedTemplate: [10],
  },
};
