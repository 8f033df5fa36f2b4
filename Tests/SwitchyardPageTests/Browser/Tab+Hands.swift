import SwitchyardBytes
import SwitchyardTestSupport

/// What a person does with a tab.
extension Tab {
    /// One thing of the accessibility tree.
    struct Element: Sendable {
        let node: Int64
        let name: String
        let properties: [String: JSON]
    }

    // MARK: Finding

    /// - Parameter name: The whole name, as a screen reader says it; `nil` for any.
    func all(_ role: String, _ name: String? = nil) async throws -> [Element] {
        let root = try await send("DOM.getDocument", ["depth": 0])["root"]?["backendNodeId"] ?? 0
        var query: JSONObject = ["backendNodeId": root, "role": .string(role)]
        if let name { query["accessibleName"] = .string(name) }
        let nodes = try await send("Accessibility.queryAXTree", .object(query))["nodes"]?.array ?? []
        return nodes.compactMap { node in
            guard node["ignored"] != true, let id = node["backendDOMNodeId"]?.int64 else { return nil }
            let properties = node["properties"]?.array ?? []
            return Element(
                node: id, name: node["name"]?["value"]?.string ?? "",
                properties: Dictionary(
                    properties.map { ($0["name"]?.string ?? "", $0["value"]?["value"] ?? .null) },
                    uniquingKeysWith: { $1 }))
        }
    }

    @discardableResult
    func find(_ role: String, _ name: String) async throws -> Element {
        var found: Element?
        do {
            try await eventually("there is a \(role) “\(name)”", within: Self.deadline) {
                found = try? await all(role, name).first
                return found != nil
            }
        } catch {
            let others = (try? await all(role).map(\.name)) ?? []
            throw DeadlineExceededIn(page: "has these: \(others)", problems: problems, error: error)
        }
        return found ?? Element(node: 0, name: name, properties: [:])
    }

    func has(_ role: String, _ name: String) async throws -> Bool { try await !all(role, name).isEmpty }

    // MARK: Mouse

    func click(_ role: String, _ name: String) async throws {
        try await withFound(role, name) { try await click($0) }
    }

    /// What is drawn again between finding and using it is found again.
    private func withFound(_ role: String, _ name: String, _ use: (Element) async throws -> Void) async throws {
        var failure: (any Error)?
        for _ in 0..<5 {
            do { return try await use(try await find(role, name)) } catch let refusal as Chromium.Refusal {
                failure = refusal
            }
        }
        if let failure { throw failure }
    }

    func click(_ element: Element) async throws {
        let node: JSON = ["backendNodeId": .integer(element.node)]
        try await send("DOM.scrollIntoViewIfNeeded", node)
        let quad = try await send("DOM.getContentQuads", node)["quads"]?[0]?.array?.compactMap(\.double) ?? []
        guard quad.count == 8 else { throw Chromium.Refusal(method: "click", reason: "“\(element.name)” has no place") }
        try await click(x: (quad[0] + quad[4]) / 2, y: (quad[1] + quad[5]) / 2)
    }

    func click(x: Double, y: Double) async throws {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            try await send(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(kind), "x": .number(x), "y": .number(y),
                    "button": kind == "mouseMoved" ? "none" : "left", "clickCount": 1,
                ])
        }
    }

    /// Clicks the middle of what a selector finds first.
    func click(selector: String) async throws {
        let element = JSON.string(selector).text()
        try await wait("there is \(selector)", "document.querySelector(\(element))")
        let place = try await evaluate(
            "(() => { const e = document.querySelector(\(element)); e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        try await click(x: place[0]?.double ?? 0, y: place[1]?.double ?? 0)
    }

    // MARK: Keys

    /// Replaces what is in a field.
    func fill(_ role: String, _ name: String, _ text: String) async throws {
        try await withFound(role, name) { element in
            try await send("DOM.scrollIntoViewIfNeeded", ["backendNodeId": .integer(element.node)])
            try await send("DOM.focus", ["backendNodeId": .integer(element.node)])
        }
        try await evaluate("document.activeElement.select?.()")
        if text.isEmpty { try await key("Delete") } else { try await type(text) }
    }

    func type(_ text: String) async throws { try await send("Input.insertText", ["text": .string(text)]) }

    enum Modifier: Int64 { case alt = 1, control = 2, shift = 8 }

    /// Presses a key by its name, such as `Enter`, `ArrowDown` or `g`.
    func key(_ name: String, _ modifier: Modifier? = nil, times: Int = 1) async throws {
        let codes: [String: Int64] = [
            "Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
            "Home": 36,
            "End": 35, "PageDown": 34, "PageUp": 33, "Delete": 46, "Backspace": 8, " ": 32,
        ]
        let text = name == "Enter" ? "\r" : name.count == 1 && (modifier == nil || modifier == .shift) ? name : nil
        let code = codes[name] ?? Int64(name.uppercased().unicodeScalars.first?.value ?? 0)
        for _ in 0..<times {
            var down: JSONObject = [
                "type": text == nil ? "rawKeyDown" : "keyDown", "key": .string(name),
                "windowsVirtualKeyCode": .integer(code),
                "modifiers": .integer(modifier?.rawValue ?? 0),
            ]
            if let text { down["text"] = .string(text) }
            try await send("Input.dispatchKeyEvent", .object(down))
            try await send(
                "Input.dispatchKeyEvent",
                [
                    "type": "keyUp", "key": .string(name), "windowsVirtualKeyCode": .integer(code),
                    "modifiers": .integer(modifier?.rawValue ?? 0),
                ])
        }
    }

    /// Chooses an option of a list by its text.
    func choose(_ name: String, _ option: String) async throws {
        let element = try await find("combobox", name)
        let object =
            try await send("DOM.resolveNode", ["backendNodeId": .integer(element.node)])["object"]?["objectId"] ?? .null
        try await send(
            "Runtime.callFunctionOn",
            [
                "objectId": object, "arguments": [["value": .string(option)]],
                "functionDeclaration":
                    "function(text) { const found = [...this.options].find(o => o.text === text); if (!found) throw new Error('no option ' + text); this.value = found.value; this.dispatchEvent(new Event('input', {bubbles: true})); this.dispatchEvent(new Event('change', {bubbles: true})); }",
            ])
    }

    /// Puts files of this machine into a chooser.
    func choose(files: [String], selector: String) async throws {
        let root = try await send("DOM.getDocument", ["depth": 0])["root"]?["nodeId"] ?? 0
        let node = try await send("DOM.querySelector", ["nodeId": root, "selector": .string(selector)])["nodeId"] ?? 0
        try await send("DOM.setFileInputFiles", ["files": .array(files.map { .string($0) }), "nodeId": node])
    }
}
