import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// The apps that report what they are doing, as they reported it last.
final class ConnectedApps: Sendable {
    private struct App {
        let name: JSON
        let since: JSON
        var seenAt: Timestamp
        var state: JSON
    }

    /// As many as a developer's machine may run; whoever was silent longest goes first.
    private static let limit = 32

    private let hub: EventHub
    private let apps = Mutex<[String: App]>([:])

    init(_ hub: EventHub) { self.hub = hub }

    func list() -> ServerResponse {
        let apps = apps.withLock { $0 }.sorted { $0.value.seenAt < $1.value.seenAt }
        return .json((["apps": .array(apps.map { Self.json($0.key, $0.value) })] as JSON).bytes())
    }

    /// A report: the app's whole state, or `null` as its last word.
    func note(_ request: ServerRequest) async -> ServerResponse {
        do {
            let call = try await PageCall(request)
            let id = try call.required("app")
            guard let state = call.body["state"], state.isNull || state.object != nil else {
                throw PageFailure.invalid("“state” has to be an object, or null for an app that ends.")
            }
            let app = App(
                name: .string(try call.string("name") ?? "App"), since: call.body["since"] ?? .null,
                seenAt: Timestamp(Date()), state: state)
            apps.withLock { apps in
                apps[id] = state.isNull ? nil : app
                if apps.count > Self.limit, let oldest = apps.min(by: { $0.value.seenAt < $1.value.seenAt })?.key {
                    apps[oldest] = nil
                }
            }
            hub.send("app", Self.json(id, app))
            return ServerResponse(status: 204)
        } catch {
            return PageFailure(error).response
        }
    }

    private static func json(_ id: String, _ app: App) -> JSON {
        [
            "app": .string(id), "name": app.name, "since": app.since, "seenAt": .string("\(app.seenAt)"),
            "state": app.state,
        ]
    }
}
