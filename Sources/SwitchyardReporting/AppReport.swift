public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
package import SwitchyardWire
import Synchronization

extension Infrastructure {
    /// Shows on the page of a local server what this app is doing: its services and their providers, live queries, waiting and
    /// refused writes, transfers, errors and moves. For development only.
    ///
    /// ```swift
    /// let backend = try await factory.make(selection)
    /// #if DEBUG
    ///     try backend.report(to: URL(string: "http://127.0.0.1:4400")!, as: "Notes")
    /// #endif
    /// ```
    /// Call it before the app opens its streams: those that are open already are not shown. It never gets into the app's way. While
    /// the page cannot be reached, the state waits for the next attempt; the observer is told once. It has paths and error messages
    /// in it, never contents, and is sent to this machine only.
    ///
    /// - Parameters:
    ///   - page: The address that `switchyard emulator` or `switchyard page` prints, with its key if it has one.
    ///   - name: The app's name on the page; by default that of the program.
    /// - Throws: `.invalidConfiguration` if the address is not one of this machine.
    @discardableResult
    public func report(to page: URL, as name: String? = nil) throws(InfrastructureError) -> AppReport {
        try report(to: page, as: name, through: PlatformTransport.make(), clock: ContinuousClock()) {
            Timestamp(Date())
        }
    }

    package func report(
        to page: URL, as name: String?, through transport: any Transport, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) throws(InfrastructureError) -> AppReport {
        let report = AppReport(
            try PageAddress(page), as: name ?? ProcessInfo.processInfo.processName, transport, clock, now)
        report.follow(self)
        return report
    }
}

/// A running report to the page of a local server. It ends with ``stop()``, or when the infrastructure is shut down; dropping the
/// value does not end it.
public final class AppReport: Sendable {
    private struct Following {
        var app = AppState()
        var hasChanged = true
        var end: (@Sendable () -> Void)?
        var tasks: [Task<Void, Never>] = []
    }

    /// At most this often, however much happens.
    private static let pause = Duration.milliseconds(200)
    /// At least this often, so that the page knows that the app still runs.
    private static let heartbeats = 25

    private let page: PageAddress
    private let name: String
    private let id = UUID().uuidString.lowercased()
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let since: Timestamp
    private let state = Mutex(Following())

    fileprivate init(
        _ page: PageAddress, as name: String, _ transport: any Transport, _ clock: any Clock<Duration>,
        _ now: @escaping @Sendable () -> Timestamp
    ) {
        (self.page, self.name, self.transport, self.clock, self.now) = (page, name, transport, clock, now)
        since = now()
    }

    /// Ends it. The page shows the app as gone.
    public func stop() {
        let (end, tasks) = state.withLock { state in
            defer { (state.end, state.tasks) = (nil, []) }
            return (state.end, state.tasks)
        }
        end?()
        for task in tasks { task.cancel() }
    }

    fileprivate func follow(_ infrastructure: Infrastructure) {
        let end = infrastructure.watch(Watcher(report: self))
        let storage = infrastructure.storage
        let tasks = [
            following({ storage.pendingWrites() }) { $0.note(pending: $1) },
            following({ storage.refusedWrites() }) { $0.note(refused: $1) },
            Task { [self] in await send(of: infrastructure) },
        ]
        state.withLock { ($0.end, $0.tasks) = (end, tasks) }
    }

    /// Follows one of the queue's streams, and the next one after a queue that was discarded.
    private func following<Element>(
        _ stream: @escaping @Sendable () -> SnapshotStream<Element, StorageError>,
        _ note: @escaping @Sendable (inout AppState, Element) -> Void
    ) -> Task<Void, Never> {
        Task { [self] in
            while !Task.isCancelled {
                do throws(StorageError) {
                    for try await element in stream() { change { note(&$0, element) } }
                    return
                } catch {
                    guard error.code == .cancelled else { return }
                }
            }
        }
    }

    fileprivate func change(_ body: (inout AppState) -> Void) {
        state.withLock { state in
            body(&state.app)
            state.hasChanged = true
        }
    }

    // MARK: Sending

    /// Until it is stopped, or the infrastructure is shut down.
    private func send(of infrastructure: Infrastructure) async {
        var turn = 0
        var failures = 0
        while !Task.isCancelled, await !infrastructure.isShutDown {
            let selection = await infrastructure.selection
            let text = state.withLock { state -> String? in
                if state.app.note(selection, at: now()) { state.hasChanged = true }
                guard state.hasChanged || turn % Self.heartbeats == 0 else { return nil }
                state.hasChanged = false
                return message(state.app.json).text()
            }
            turn += 1
            if let text {
                let problem = await post(text)
                if let problem {
                    if failures == 0 { tell(infrastructure, problem) }
                    failures += 1
                    change { _ in }
                } else {
                    failures = 0
                }
            }
            // A page that is not there is asked for less and less often, at most every five seconds.
            try? await clock.sleep(for: Self.pause * min(1 << min(failures, 5), Self.heartbeats))
        }
        // In a task of its own, which is not cancelled.
        _ = await Task { await post(message(.null).text()) }.value
        await transport.shutDown()
        stop()
    }

    private func message(_ state: JSON) -> JSON {
        [
            "app": .string(id), "name": .string(name), "since": .string("\(since)"), "state": state,
        ]
    }

    /// - Returns: Why it did not arrive.
    private func post(_ text: String) async -> String? {
        let request = HTTPRequest(.post, page.address, headers: page.headers, body: Array(text.utf8))
        do throws(TransportError) {
            let response = try await transport.send(request, within: .seconds(5))
            return (200..<300).contains(response.status) ? nil : "It answered \(response.status)."
        } catch {
            return "\(error)"
        }
    }

    private func tell(_ infrastructure: Infrastructure, _ problem: String) {
        infrastructure.notice(
            "The page at \(page.shown) does not take this app's report: \(problem) Start it with “switchyard emulator”, or remove "
                + "the call of report(to:). It is tried again.")
    }

    /// What the infrastructure holds, so that this report is not held by what it follows.
    private final class Watcher: ActivityObserver {
        private weak let report: AppReport?

        init(report: AppReport) { self.report = report }

        func observe(_ event: InfrastructureEvent) {
            guard let report else { return }
            report.change { $0.note(event, at: report.now()) }
        }

        func observe(_ activity: ClientActivity) {
            guard let report else { return }
            report.change { $0.note(activity, at: report.now()) }
        }
    }
}

/// Where reports go.
private struct PageAddress {
    let address: String
    let headers: HTTPHeaders
    /// Without the key.
    let shown: String

    init(_ page: URL) throws(InfrastructureError) {
        let text = page.absoluteString
        let (front, fragment) =
            text.firstIndex(of: "#").map { (text[..<$0], text[$0...].dropFirst()) } ?? (text[...], "")
        guard let parts = try? URLParts(validating: String(front)), parts.isLoopback, parts.scheme == "http" else {
            throw InfrastructureError(
                .invalidConfiguration,
                "The report of this app goes to the page of a local server on this machine, such as http://127.0.0.1:4400, not to "
                    + "\(Secret.shown(String(front))). Copy the address that “switchyard emulator” prints.")
        }
        let host = parts.host.includes(":") ? "[\(parts.host)]" : parts.host
        shown = "http://\(host)" + (parts.port.map { ":\($0)" } ?? "")
        address = shown + "/api/apps"
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if fragment.hasPrefix("key=") { headers["X-Page-Key"] = String(fragment.dropFirst(4)) }
        self.headers = headers
    }
}
