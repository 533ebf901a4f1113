import type { Department } from './department.ts';

/** The departments of the Pacific coast. Municipalities as in the official division, by common name. */
export const pacific: readonly Department[] = [
  {
    name: 'Cauca',
    region: 'PACIFIC',
    centre: [2.5, -76.75],
    municipalities: `Popayán, Almaguer, Argelia, Balboa, Bolívar, Buenos Aires, Cajibío, Caldono, Caloto, Corinto,
      El Tambo, Florencia, Guachené, Guapi, Inzá, Jambaló, La Sierra, La Vega, López de Micay, Mercaderes, Miranda,
      Morales, Padilla, Páez, Patía, Piamonte, Piendamó, Puerto Tejada, Puracé, Rosas, San Sebastián, Santa Rosa,
      Santander de Quilichao, Silvia, Sotará, Suárez, Sucre, Timbío, Timbiquí, Toribío, Totoró, Villa Rica`,
  },
  {
    name: 'Chocó',
    region: 'PACIFIC',
    centre: [5.75, -76.9],
    municipalities: `Quibdó, Acandí, Alto Baudó, Atrato, Bagadó, Bahía Solano, Bajo Baudó, Bojayá, Carmen del Darién,
      Cértegui, Condoto, El Cantón del San Pablo, El Carmen de Atrato, El Litoral del San Juan, Istmina, Juradó, Lloró,
      Medio Atrato, Medio Baudó, Medio San Juan, Nóvita, Nuquí, Río Iró, Río Quito, Riosucio, San José del Palmar, Sipí,
      Tadó, Unguía, Unión Panamericana`,
  },
  {
    name: 'Nariño',
    region: 'PACIFIC',
    centre: [1.35, -77.55],
    municipalities: `Pasto, Albán, Aldana, Ancuyá, Arboleda, Barbacoas, Belén, Buesaco, Chachagüí, Colón, Consacá,
      Contadero, Córdoba, Cuaspud, Cumbal, Cumbitara, El Charco, El Peñol, El Rosario, El Tablón de Gómez, El Tambo,
      Francisco Pizarro, Funes, Guachucal, Guaitarilla, Gualmatán, Iles, Imués, Ipiales, La Cruz, La Florida,
      La Llanada, La Tola, La Unión, Leiva, Linares, Los Andes, Magüí Payán, Mallama, Mosquera, Nariño, Olaya Herrera,
      Ospina, Policarpa, Potosí, Providencia, Puerres, Pupiales, Ricaurte, Roberto Payán, Samaniego, San Bernardo,
      San Lorenzo, San Pablo, San Pedro de Cartago, Sandoná, Santa Bárbara, Santacruz, Sapuyes, Taminango, Tangua,
      Tumaco, Túquerres, Yacuanquer`,
  },
  {
    name: 'Valle del Cauca',
    region: 'PACIFIC',
    centre: [3.9, -76.3],
    municipalities: `Cali, Alcalá, Andalucía, Ansermanuevo, Argelia, Bolívar, Buenaventura, Buga, Bugalagrande,
      Caicedonia, Calima, Candelaria, Cartago, Dagua, El Águila, El Cairo, El Cerrito, El Dovio, Florida, Ginebra,
      Guacarí, Jamundí, La Cumbre, La Unión, La Victoria, Obando, Palmira, Pradera, Restrepo, Riofrío, Roldanillo,
      San Pedro, Sevilla, Toro, Trujillo, Tuluá, Ulloa, Versalles, Vijes, Yotoco, Yumbo, Zarzal`,
  },
];
