// On paper the map is a picture, in light colours whatever the screen shows.

function attachPrinting(scatter) {
  const image = byId("print-image");

  const prepare = () => {
    if (!image.hidden) return;
    setOnPaper(true);
    scatter.renderer.renderFully(scatter.view);
    scatter.overlay.draw(scatter.view, scatter.surface, scatter.focus());
    const canvas = document.createElement("canvas");
    canvas.width = scatter.canvas.width;
    canvas.height = scatter.canvas.height;
    const context = canvas.getContext("2d");
    // In the same task as the drawing: WebGL's picture does not outlast it.
    context.drawImage(scatter.canvas, 0, 0);
    context.drawImage(scatter.overlay.canvas, 0, 0);
    image.src = canvas.toDataURL("image/png");
    image.alt = byId("map-caption").textContent;
    image.hidden = false;
  };

  const restore = () => {
    image.hidden = true;
    image.removeAttribute("src");
    setOnPaper(false);
  };

  window.addEventListener("beforeprint", prepare);
  window.addEventListener("afterprint", restore);
  window.matchMedia("print").addEventListener("change", (event) => (event.matches ? prepare() : restore()));
}
