// Light and dark: as the system has it, until the button says otherwise.

const THEME_KEY = "linkproof-theme";

/** Some browsers refuse storage to pages opened from a file. */
function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

function storeTheme(theme) {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // The choice then lasts as long as the page.
  }
}

/** Paper is light, whatever the screen shows. */
let onPaper = false;

function setOnPaper(value) {
  onPaper = value;
  document.dispatchEvent(new Event("themechange"));
}

function currentTheme() {
  if (onPaper) return "light";
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function attachTheme() {
  const button = byId("theme");
  const show = () => {
    const dark = currentTheme() === "dark";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Change to light colours" : "Change to dark colours");
    document.dispatchEvent(new Event("themechange"));
  };
  const stored = storedTheme();
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
  button.addEventListener("click", () => {
    const theme = currentTheme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    storeTheme(theme);
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}
