// The shaders. Positions are in the plane; `centre` and `zoom` (clip units per
// unit of the plane) are all that changes when the view moves. Colours are
// premultiplied by their opacity.

const POINT_VERTEX = `#version 300 es
in float x;
in float y;
in float category;
uniform vec2 centre;
uniform vec2 zoom;
uniform float size;
uniform vec4 palette[${PALETTE_SIZE}];
uniform int pass; // 0: all, 1: the dimmed ones, 2: the others, which lie on top
flat out vec3 colour;
void main() {
  vec4 entry = palette[int(category + 0.5)];
  bool dimmed = entry.a < 0.5;
  bool left_out = (pass == 1 && !dimmed) || (pass == 2 && dimmed);
  colour = entry.rgb;
  gl_PointSize = size;
  gl_Position = left_out ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((vec2(x, y) - centre) * zoom, 0.0, 1.0);
}`;

// A disc with a rim of the background's colour, so that neighbours stay apart.
const POINT_FRAGMENT = `#version 300 es
precision highp float;
flat in vec3 colour;
uniform float size;
uniform vec3 background;
uniform float rim; // in pixels
out vec4 result;
void main() {
  float away = length(gl_PointCoord - 0.5) * size;
  float cover = clamp(size * 0.5 - away, 0.0, 1.0);
  if (cover <= 0.0) discard;
  float inside = clamp(size * 0.5 - rim - away + 0.5, 0.0, 1.0);
  result = vec4(mix(background, colour, inside) * cover, cover);
}`;

// Lines of WebGL are one pixel wide; a wider one is drawn several times, a
// little aside. (Rectangles take ten times as long without a graphics card.)
const LINE_VERTEX = `#version 300 es
in vec2 position;
uniform vec2 centre;
uniform vec2 zoom;
uniform vec2 aside; // in clip units
void main() {
  gl_Position = vec4((position - centre) * zoom + aside, 0.0, 1.0);
}`;

const FLAT_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 colour;
out vec4 result;
void main() {
  result = colour;
}`;

// A picture of nodes or links as it was drawn, perhaps for an earlier view.
const PICTURE_VERTEX = `#version 300 es
in vec2 corner;
uniform vec2 middle;
uniform vec2 extent;
out vec2 at;
void main() {
  at = corner * 0.5 + 0.5;
  gl_Position = vec4(middle + corner * extent, 0.0, 1.0);
}`;

const PICTURE_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
uniform sampler2D picture;
out vec4 result;
void main() {
  result = texture(picture, at);
}`;
