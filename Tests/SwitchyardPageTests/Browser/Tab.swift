import Foundation
import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

/// A tab of the browser. What a person finds by its role and its name is found by them here, in the accessibility tree.
final class Tab: Sendable {
    private let browser: Chromium
    private let session: String
    private let target: String
    private let log = Mutex((problems: [String](), requests: [String]()))

    static let deadline = Duration.seconds(30)

    init(_ browser: Chromium, width: Int = 1280, height: Int = 800) async throws {
        self.browser = browser
        target =
            try await browser.send("Target.createTarget", ["url": "about:blank", "newWindow": true])["targetId"]?.string
            ?? ""
        session =
            try await browser.send("Target.attachToTarget", ["targetId": .string(target), "flatten": true])[
                "sessionId"]?.string ?? ""
        browser.listen(to: session) { [weak self] in self?.note($0, $1) }
        for domain in ["Runtime", "Log", "Page", "Network", "DOM", "Accessibility"] {
            try await send("\(domain).enable")
        }
        try await show(width: width, height: height)
    }

    @discardableResult
    func send(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await browser.send(method, parameters, session: session)
    }

    func close() async throws { try await browser.send("Target.closeTarget", ["targetId": .string(target)]) }

    // MARK: What goes wrong

    /// Errors of the console, exceptions and violations of the policy.
    var problems: [String] { log.withLock { $0.problems } }
    /// The addresses that the page has asked.
    var requests: [String] { log.withLock { $0.requests } }

    private func note(_ method: String, _ parameters: JSON) {
        switch method {
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            let text = details?["exception"]?["description"]?.string ?? details?["text"]?.string ?? ""
            log.withLock { $0.problems.append(text) }
        case "Runtime.consoleAPICalled" where parameters["type"] == "error":
            let text = parameters["args"]?.array?.compactMap { $0["description"]?.string ?? $0["value"]?.string }
            log.withLock { $0.problems.append(text?.joined(separator: " ") ?? "") }
        case "Log.entryAdded"
        where parameters["entry"]?["level"] == "error" && parameters["entry"]?["source"] != "network":
            // A status of 400 is an answer.
            log.withLock { $0.problems.append(parameters["entry"]?["text"]?.string ?? "") }
        case "Network.requestWillBeSent":
            if let url = parameters["request"]?["url"]?.string { log.withLock { $0.requests.append(url) } }
        default: break
        }
    }

    /// Nothing is in the console, and nothing was asked for elsewhere.
    func expectCalm(at base: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(problems.isEmpty, sourceLocation: sourceLocation)
        let elsewhere = requests.filter {
            !$0.hasPrefix(base + "/") && !$0.hasPrefix("data:") && !$0.hasPrefix("blob:\(base)/")
        }
        #expect(elsewhere.isEmpty, "no request leaves the page's server", sourceLocation: sourceLocation)
    }

    // MARK: Pages and scripts

    func open(_ url: String) async throws {
        try await send("Page.navigate", ["url": .string(url)])
        try await wait("the page is ready", "document.documentElement.dataset.ready === 'true'")
    }

    /// Goes to a place of the page by its address.
    func go(_ hash: String) async throws {
        try await evaluate("location.hash = \(JSON.string(hash).text())")
    }

    @discardableResult
    func evaluate(_ script: String) async throws -> JSON {
        let answer = try await send(
            "Runtime.evaluate",
            ["expression": .string(script), "awaitPromise": true, "returnByValue": true, "userGesture": true])
        if let details = answer["exceptionDetails"] {
            throw Chromium.Refusal(
                method: script, reason: details["exception"]?["description"]?.string ?? details.text())
        }
        return answer["result"]?["value"] ?? .null
    }

    func wait(_ what: String, within deadline: Duration = Tab.deadline, _ script: String) async throws {
        do {
            try await eventually(what, within: deadline) {
                // A page that is being replaced answers no script.
                (try? await evaluate("Boolean(\(script))")) == true
            }
        } catch {
            let place =
                (try? await evaluate("location.href + '\\n' + document.body.innerText.slice(0, 1500)"))?.string ?? ""
            throw DeadlineExceededIn(page: place, problems: problems, error: error)
        }
    }

    struct DeadlineExceededIn: Error, CustomStringConvertible {
        let page: String
        let problems: [String]
        let error: any Error
        var description: String { "\(error)\nThe page: \(page)\nIts console: \(problems)" }
    }

    /// Waits until this text is in what the page shows.
    func waitForText(_ text: String, in selector: String = "body") async throws {
        try await wait(
            "“\(text)” is shown",
            "[...document.querySelectorAll(\(JSON.string(selector).text()))].some(e => e.innerText.includes(\(JSON.string(text).text())))"
        )
    }

    func text(_ selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(JSON.string(selector).text()))?.innerText ?? ''").string ?? ""
    }

    func value(_ selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(JSON.string(selector).text()))?.value ?? ''").string ?? ""
    }

    func count(_ selector: String) async throws -> Int {
        try await evaluate("document.querySelectorAll(\(JSON.string(selector).text())).length").int ?? 0
    }

    // MARK: Looks

    func show(width: Int, height: Int, isPhone: Bool = false) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(Int64(width)), "height": .integer(Int64(height)), "deviceScaleFactor": 1,
                "mobile": .bool(isPhone),
            ])
        try await send("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isPhone)])
    }

    func show(isDark: Bool, isCalm: Bool = false) async throws {
        try await send(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"],
                    ["name": "prefers-reduced-motion", "value": isCalm ? "reduce" : "no-preference"],
                ]
            ])
    }

    /// Keeps what is shown as an artefact; see `Screenshots`.
    func screenshot(_ name: String) async throws {
        try await evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => true)")
        let answer = try await send("Page.captureScreenshot", ["format": "png"])
        let bytes = Base64.decode(answer["data"]?.string ?? "") ?? []
        #expect(bytes.count > 1000)
        try Screenshots.keep(bytes, as: name)
    }
}

/// The pictures that the tests take, for people to look at: in the folder that `SWITCHYARD_SCREENSHOTS` names, by default
/// `.build/screenshots`.
enum Screenshots {
    static let folder: URL = {
        let named = ProcessInfo.processInfo.environment["SWITCHYARD_SCREENSHOTS"]
        return URL(fileURLWithPath: named ?? FileManager.default.currentDirectoryPath + "/.build/screenshots")
    }()

    static func keep(_ bytes: [UInt8], as name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appendingPathComponent("\(name).png"))
    }
}
