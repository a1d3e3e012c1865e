// Turns what stands between <!-- tabs --> and <!-- /tabs --> into tabs: every paragraph that is one bold word begins one.
// Without this script, and on GitHub, they are plain sections, one below the other.
"use strict";
(() => {
    const KEPT = "ldlf-tab";
    const remembered = () => { try { return localStorage.getItem(KEPT); } catch { return null; } };
    const remember = (name) => { try { localStorage.setItem(KEPT, name); } catch { /* private window */ } };

    // The nodes from a comment `tabs` to the comment that ends it.
    const between = (start) => {
        const nodes = [];
        for (let node = start.nextSibling; node; node = node.nextSibling) {
            if (node.nodeType === Node.COMMENT_NODE && node.data.trim() === "/tabs") return nodes;
            nodes.push(node);
        }
        return [];
    };
    const title = (node) => {
        const bold = node.nodeName === "P" && node.children.length === 1 && node.firstElementChild;
        return bold && bold.nodeName === "STRONG" && bold.textContent === node.textContent ? bold.textContent : null;
    };

    const show = (name) => {
        for (const group of document.querySelectorAll(".tabs")) {
            const names = [...group.querySelectorAll("[role=tab]")];
            if (!names.some((tab) => tab.textContent === name)) continue;
            for (const tab of names) {
                const chosen = tab.textContent === name;
                tab.setAttribute("aria-selected", String(chosen));
                tab.tabIndex = chosen ? 0 : -1;
                document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
            }
        }
    };

    const build = (start, number) => {
        const nodes = between(start);
        const group = document.createElement("div");
        group.className = "tabs";
        const list = document.createElement("div");
        list.setAttribute("role", "tablist");
        group.append(list);
        let panel = null;
        for (const node of nodes) {
            const name = title(node);
            if (name !== null) {
                panel = document.createElement("div");
                panel.setAttribute("role", "tabpanel");
                panel.id = `tab-${number}-${list.children.length}`;
                const tab = document.createElement("button");
                tab.type = "button";
                tab.setAttribute("role", "tab");
                tab.setAttribute("aria-controls", panel.id);
                tab.textContent = name;
                tab.addEventListener("click", () => { remember(name); show(name); });
                list.append(tab);
                group.append(panel);
                node.remove();
            } else if (panel) {
                panel.append(node);
            }
        }
        list.addEventListener("keydown", (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const tabs = [...list.children];
            const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
            next.focus();
            next.click();
        });
        start.replaceWith(group);
        show(list.firstElementChild ? list.firstElementChild.textContent : "");
    };

    const main = document.querySelector("main") || document.body;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_COMMENT);
    const starts = [];
    while (walker.nextNode()) if (walker.currentNode.data.trim() === "tabs") starts.push(walker.currentNode);
    starts.forEach(build);
    if (remembered()) show(remembered());
})();
