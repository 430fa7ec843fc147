// Draws with uPlot over the pictures that the server drew; without it the pictures stay.
export const draw = () => {};
