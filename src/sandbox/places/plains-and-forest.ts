import type { Department } from './department.ts';

/** The eastern plains and the Amazon. Without non-municipal areas, because no courier serves them. */
export const plainsAndForest: readonly Department[] = [
  { name: 'Amazonas', region: 'AMAZONIA', centre: [-4.0, -70.1], municipalities: 'Leticia, Puerto Nariño' },
  {
    name: 'Arauca',
    region: 'ORINOQUIA',
    centre: [6.75, -71.35],
    municipalities: 'Arauca, Arauquita, Cravo Norte, Fortul, Puerto Rondón, Saravena, Tame',
  },
  {
    name: 'Caquetá',
    region: 'AMAZONIA',
    centre: [1.5, -75.4],
    municipalities: `Florencia, Albania, Belén de los Andaquíes, Cartagena del Chairá, Curillo, El Doncello, El Paujil,
      La Montañita, Milán, Morelia, Puerto Rico, San José del Fragua, San Vicente del Caguán, Solano, Solita,
      Valparaíso`,
  },
  {
    name: 'Casanare',
    region: 'ORINOQUIA',
    centre: [5.35, -72.1],
    municipalities: `Yopal, Aguazul, Chámeza, Hato Corozal, La Salina, Maní, Monterrey, Nunchía, Orocué,
      Paz de Ariporo, Pore, Recetor, Sabanalarga, Sácama, San Luis de Palenque, Támara, Tauramena, Trinidad,
      Villanueva`,
  },
  { name: 'Guainía', region: 'AMAZONIA', centre: [3.87, -67.92], municipalities: 'Inírida' },
  {
    name: 'Guaviare',
    region: 'AMAZONIA',
    centre: [2.4, -72.5],
    municipalities: 'San José del Guaviare, Calamar, El Retorno, Miraflores',
  },
  {
    name: 'Meta',
    region: 'ORINOQUIA',
    centre: [3.7, -73.5],
    municipalities: `Villavicencio, Acacías, Barranca de Upía, Cabuyaro, Castilla la Nueva, Cubarral, Cumaral,
      El Calvario, El Castillo, El Dorado, Fuente de Oro, Granada, Guamal, La Macarena, Lejanías, Mapiripán, Mesetas,
      Puerto Concordia, Puerto Gaitán, Puerto Lleras, Puerto López, Puerto Rico, Restrepo, San Carlos de Guaroa,
      San Juan de Arama, San Juanito, San Martín, Uribe, Vistahermosa`,
  },
  {
    name: 'Putumayo',
    region: 'AMAZONIA',
    centre: [0.8, -76.6],
    municipalities: `Mocoa, Colón, Orito, Puerto Asís, Puerto Caicedo, Puerto Guzmán, Puerto Leguízamo, San Francisco,
      San Miguel, Santiago, Sibundoy, Valle del Guamuez, Villagarzón`,
  },
  { name: 'Vaupés', region: 'AMAZONIA', centre: [1.2, -70.3], municipalities: 'Mitú, Carurú, Taraira' },
  {
    name: 'Vichada',
    region: 'ORINOQUIA',
    centre: [5.3, -69.0],
    municipalities: 'Puerto Carreño, Cumaribo, La Primavera, Santa Rosalía',
  },
];
