// What the tests of pages ask a page in the browser: an expression whose functions helpers/page_checks.py calls.
({
  // Text whose contrast with its background is below WCAG AA: 4.5, for large text 3. Colours of any notation go through a canvas.
  lowContrast: () => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }), known = new Map();
    const rgba = color => {
      if (!known.has(color)) {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = color;
        pen.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
        known.set(color, [r, g, b, a / 255]);
      }
      return known.get(color);
    };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const luminance = color => color.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const root = getComputedStyle(document.documentElement);
    const canvas = root.colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    const below = element => {
      if (!element) return canvas;
      const color = rgba(getComputedStyle(element).backgroundColor);
      return color[3] === 1 ? color : over(color, below(element.parentElement));
    };
    const opacity = element => element ? +getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
    const found = new Map();
    let checked = 0;
    const check = (text, style, background, faded) => {
      const ink = rgba(style.color), shown = over([...ink.slice(0, 3), ink[3] * faded], background);
      const [low, high] = [luminance(shown), luminance(background)].sort((a, b) => a - b);
      const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
      const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
      checked += 1;
      if (ratio < needed) found.set([shown.map(Math.round), background.map(Math.round)].join(), `${ratio.toFixed(2)}: ${text.trim().slice(0, 50)}`);
    };
    const visible = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      && element.getClientRects().length && element.getBoundingClientRect().width > 1;
    for (const element of document.body.querySelectorAll("*")) {
      if (/^(SCRIPT|STYLE|NOSCRIPT|OPTION)$/.test(element.tagName) || !visible(element)) continue;
      const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join("").trim();
      const style = getComputedStyle(element);
      if (text) check(text, style, below(element), opacity(element));
      for (const part of ["::before", "::after"]) {
        const its = getComputedStyle(element, part);
        if (!/^"[^"]*\S[^"]*"/.test(its.content) || its.display === "none" || its.visibility === "hidden" || its.opacity === "0") continue;
        check(`${part} ${its.content}`, its, over(rgba(its.backgroundColor), below(element)), opacity(element) * its.opacity);
      }
    }
    return { checked, found: [...found.values()] };
  },
  // Elements that stand out of the window on the right, but for what scrolls in a box of its own.
  tooWide: () => {
    const boxed = element => element && element !== document.body && (getComputedStyle(element).overflowX !== "visible" || boxed(element.parentElement));
    const wide = [...document.body.querySelectorAll("*")].filter(element =>
      element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      && !boxed(element.parentElement));
    const page = document.scrollingElement.scrollWidth > innerWidth ? ["the page itself"] : [];
    return page.concat(wide.slice(0, 5).map(element => `${element.tagName}.${element.className} ${element.textContent.trim().slice(0, 40)}`));
  },
})
