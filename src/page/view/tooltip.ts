// The box next to the pointer that describes what is drawn there.

import { h, type Child } from "./dom";

class Tooltip {
	private readonly element = h("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });

	// A key, a scroll or a touch can change what is drawn at the pointer, so each hides the box.
	constructor() {
		for (const event of ["keydown", "scroll", "touchstart", "wheel"])
			addEventListener(event, () => this.hide(), { passive: true, capture: true });
	}

	show(event: MouseEvent, content: Child[] | null): void {
		if (!content) {
			this.hide();
			return;
		}
		if (!this.element.isConnected)
			document.body.append(this.element);
		this.element.replaceChildren(...content.filter((child): child is Node => child instanceof Node));
		this.element.hidden = false;
		const { offsetWidth: width, offsetHeight: height } = this.element;
		const x = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
		const y = event.clientY + 18 + height > innerHeight ? event.clientY - 10 - height : event.clientY + 18;

		this.element.style.left = `${Math.max(x, 4)}px`;
		this.element.style.top = `${Math.max(y, 4)}px`;
	}

	hide(): void {
		this.element.hidden = true;
	}
}

export const tooltip = new Tooltip();
