import Foundation
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

/// A browser without a window, driven by its DevTools protocol. It ends with this process, however that ends.
final class Chromium: Sendable {
    struct Refusal: Error, CustomStringConvertible {
        let method: String
        let reason: String
        var description: String { "\(method): \(reason)" }
    }

    private struct State {
        var next = 0
        var waiting: [Int: CheckedContinuation<Result<JSON, Refusal>, Never>] = [:]
        var listeners: [String: @Sendable (_ method: String, _ parameters: JSON) -> Void] = [:]
        var isOver = false
    }

    private let process: ServerProcess
    private let folder: URL
    private let transport: any Transport
    private let socket: any WebSocketConnection
    private let state = Mutex(State())
    private let reader = TaskBox()

    /// Starts it with an empty profile of its own.
    static func start() async throws -> Chromium {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("page-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Each process of it keeps the end of a pipe open, by which it is known when all of them have ended.
        let process = try ServerProcess(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
                "--remote-debugging-port=0", "--user-data-dir=\(folder.path)/profile", "about:blank",
            ], environment: ["HOME": folder.path], endingBy: "TERM", leftovers: folder.path,
            logFile: folder.appendingPathComponent("log").path)
        do {
            var address: [String] = []
            try await eventually("the browser listens: \(process.logTail)", within: .seconds(60)) {
                let text = try? String(
                    contentsOf: folder.appendingPathComponent("profile/DevToolsActivePort"), encoding: .utf8)
                address = text?.split(separator: "\n").map(String.init) ?? []
                return address.count == 2
            }
            let transport = PlatformTransport.make()
            var request = WebSocketRequest("ws://127.0.0.1:\(address[0])\(address[1])")
            request.maximumMessageSize = 64 << 20
            request.maximumFrameSize = 64 << 20
            request.keepAlive = WebSocketKeepAlive(pingAfter: nil)
            let socket = try await transport.webSocket(request)
            return Chromium(process, folder, transport, socket)
        } catch {
            process.kill()
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    private init(
        _ process: ServerProcess, _ folder: URL, _ transport: any Transport, _ socket: any WebSocketConnection
    ) {
        self.process = process
        self.folder = folder
        self.transport = transport
        self.socket = socket
        reader.replace(
            with: Task { [weak self] in
                while let message = try? await socket.receive() {
                    guard case .text(let text) = message, let json = try? JSON(parsing: text) else { continue }
                    self?.received(json)
                }
                self?.finish()
            })
    }

    /// Ends all of its processes, and waits for that.
    func stop() async throws {
        _ = try? await send("Browser.close")
        let process = process
        try await onOwnThread { process.kill() }
        try await eventually("all processes of the browser have ended", within: .seconds(20)) {
            process.hasEnded && !Self.isRunning(in: folder)
        }
        reader.cancel()
        await transport.shutDown()
        // What it wrote at its very end may come between.
        try await eventually("the profile is gone", within: .seconds(20)) {
            try? FileManager.default.removeItem(at: folder)
            return !FileManager.default.fileExists(atPath: folder.path)
        }
    }

    var hasEnded: Bool { process.hasEnded && !Self.isRunning(in: folder) }

    /// Some of its processes close the pipe by which the others are known, but each one names its folder.
    private static func isRunning(in folder: URL) -> Bool {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.contains { id in
            guard Int(id) != nil, let words = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") else {
                return false
            }
            return words.range(of: Data(folder.path.utf8)) != nil
        }
    }

    /// Keeps what all tabs show, after a failure.
    func keepPictures() async {
        for (number, session) in state.withLock({ $0.listeners.keys.sorted() }).enumerated() {
            let answer = try? await send("Page.captureScreenshot", ["format": "png"], session: session)
            guard let bytes = Base64.decode(answer?["data"]?.string ?? "") else { continue }
            try? Screenshots.keep(bytes, as: "failure-\(number)")
        }
    }

    // MARK: Commands

    @discardableResult
    func send(_ method: String, _ parameters: JSON = [:], session: String? = nil) async throws -> JSON {
        let result: Result<JSON, Refusal> = await withCheckedContinuation { continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isOver else { return nil }
                state.next += 1
                state.waiting[state.next] = continuation
                return state.next
            }
            guard let id else {
                return continuation.resume(
                    returning: .failure(Refusal(method: method, reason: "the browser has ended")))
            }
            var command: JSONObject = ["id": .integer(Int64(id)), "method": .string(method), "params": parameters]
            if let session { command["sessionId"] = .string(session) }
            let text = JSON.object(command).text()
            Task { [self] in
                do { try await socket.send(.text(text)) } catch {
                    answer(id, .failure(Refusal(method: method, reason: "\(error)")))
                }
            }
        }
        return try result.get()
    }

    /// Events of a session, in their order.
    func listen(to session: String, _ listener: @escaping @Sendable (String, JSON) -> Void) {
        state.withLock { $0.listeners[session] = listener }
    }

    private func received(_ json: JSON) {
        if let id = json["id"]?.int {
            if let error = json["error"] {
                answer(id, .failure(Refusal(method: "command \(id)", reason: error["message"]?.string ?? error.text())))
            } else {
                answer(id, .success(json["result"] ?? [:]))
            }
        } else if let method = json["method"]?.string, let session = json["sessionId"]?.string {
            state.withLock { $0.listeners[session] }?(method, json["params"] ?? [:])
        }
    }

    private func answer(_ id: Int, _ result: Result<JSON, Refusal>) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: result)
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting {
            continuation.resume(returning: .failure(Refusal(method: "command", reason: "the browser has ended")))
        }
    }
}

/// Runs with a browser that ends afterwards, also after a failure.
func withChromium(_ body: (Chromium) async throws -> Void) async throws {
    let browser = try await Chromium.start()
    do { try await body(browser) } catch {
        await browser.keepPictures()
        try? await browser.stop()
        throw error
    }
    try await browser.stop()
}
