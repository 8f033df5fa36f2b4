import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire
import Synchronization

/// A page that shows what backends are doing, and the server of this page, which listens on this machine only.
///
/// The server has a port and a thread of its own, so that no load on the page stalls a client of a local server.
package final class Page: Sendable {
    package struct Options: Sendable {
        /// 0 picks a free one.
        package var port: UInt16 = 0
        /// What each request has to name; `nil` for a page that everyone on this machine may use.
        package var key: String?
        /// In the heading of the page.
        package var title = "Switchyard"
        /// Gets a line for each request to a local server.
        package var lines: RequestLines?

        package init() {}
    }

    let site: PageSite
    private let server: LoopbackServer
    private let key: String?
    private let upkeep: Task<Void, Never>

    /// Starts listening. The page shuts down the clients of its backends when it stops.
    package init(_ backends: [PageBackend], _ options: Options = Options()) throws(ServerError) {
        let site = PageSite(backends, options)
        var configuration = ServerConfiguration()
        configuration.port = options.port
        configuration.visitors = ServerVisitors(
            origins: [], controlPaths: ["/api"], remedy: "open the page at the address that the tool prints.")
        let routes = PageRoutes(site)
        server = try LoopbackServer(configuration) { await routes.answer($0) }
        self.site = site
        key = options.key
        upkeep = Task { await site.keepUp() }
        site.attach()
    }

    /// Starts the page, or shuts the clients of its backends down and says why it cannot.
    package static func started(_ backends: [PageBackend], _ options: Options) async throws(StartFailure) -> Page {
        do throws(ServerError) { return try Page(backends, options) } catch {
            for backend in backends { await backend.source.shutDown() }
            guard case .cannotListen = error else { throw StartFailure(message: "The page cannot start: \(error).") }
            throw StartFailure(
                message:
                    "The page cannot listen on port \(options.port). End the program that uses the port, or choose another."
            )
        }
    }

    /// Why the page cannot start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let message: String
        package var description: String { message }
    }

    package var port: UInt16 { server.port }

    /// For a browser.
    package var url: String { server.url + "/" + (key.map { "#key=\($0)" } ?? "") }

    /// Ends the streams of all tabs and the page's clients.
    package func stop() async {
        upkeep.cancel()
        site.detach()
        site.close()
        await server.stop()
        for backend in site.backends { await backend.source.shutDown() }
    }
}

/// Follows the requests to local servers where there is no page.
package final class RequestFollower: Sendable {
    private let site: PageSite

    package init(_ backends: [PageBackend], _ lines: RequestLines) {
        var options = Page.Options()
        options.lines = lines
        site = PageSite(backends, options)
        site.attach()
    }

    package func stop() async {
        site.detach()
        site.close()
        for backend in site.backends { await backend.source.shutDown() }
    }
}

/// What all tabs share.
final class PageSite: Sendable {
    let backends: [PageBackend]
    let options: Page.Options
    let hub = EventHub()
    let watches: Watches
    let apps: ConnectedApps
    private let telling = Mutex<[Task<Void, Never>]>([])

    init(_ backends: [PageBackend], _ options: Page.Options) {
        self.backends = backends
        self.options = options
        watches = Watches(hub)
        apps = ConnectedApps(hub)
    }

    private static let heartbeat = Duration.seconds(15)
    /// How long queries are followed for pages that have gone.
    private static let patience = Duration.seconds(30)

    /// Beats, and ends what no page shows any more.
    func keepUp() async {
        while !Task.isCancelled {
            // The rate at which it beats; nothing is waited for.
            try? await Task.sleep(for: Self.heartbeat)
            hub.beat()
            if let since = hub.aloneSince, since + Self.patience <= .now { watches.endAll() }
        }
    }

    /// Has itself told of all requests and messages of the local servers.
    func attach() {
        var tasks: [Task<Void, Never>] = []
        for backend in backends {
            guard let local = backend.local else { continue }
            let (hub, lines, id) = (hub, options.lines, backend.id)
            local.server.show(to: local.log)
            for sent in local.sent { sent.tell { hub.send("outbox", OutboxRoutes.json($0, of: id)) } }
            tasks.append(
                Task {
                    await local.log.tell(settling: { local.settle($0.record, $0.record.state) }) { entry, missed in
                        let state = entry.record.state
                        let summary = local.summary(of: entry.record, state)
                        if missed > 0 { lines?.note(missed: missed, of: id) }
                        lines?.note(entry, summary, state, of: id)
                        var json = summary.json(entry, state).object ?? [:]
                        json["backend"] = .string(id)
                        if missed > 0 { json["missed"] = .number(missed) }
                        hub.send("request", .object(json))
                    }
                })
        }
        let all = tasks
        telling.withLock { $0 = all }
    }

    func detach() {
        for backend in backends {
            backend.local?.server.show(to: nil)
            for sent in backend.local?.sent ?? [] { sent.tell(nil) }
        }
        for task in telling.withLock({ $0 }) { task.cancel() }
    }

    func close() {
        watches.endAll()
        hub.close()
    }

    func backend(_ id: String) throws(PageFailure) -> PageBackend {
        guard let backend = backends.first(where: { $0.id == id }) else {
            throw .missing("This page has no backend “\(id)”.")
        }
        return backend
    }

    var json: JSON {
        .object([
            "title": .string(options.title), "version": "1", "backends": .array(backends.map(\.json)),
        ])
    }
}
