import SwitchyardServerKit
import SwitchyardWire

/// `GET /api/events`
struct EventStreamRoute: Sendable {
    private let hub: EventHub

    init(_ hub: EventHub) { self.hub = hub }

    func answer(_ request: ServerRequest) -> ServerResponse {
        let last = (request.headers["Last-Event-ID"] ?? request.query("last")).flatMap { Int($0) }
        let hub = hub
        let headers: HTTPHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
        return .stream(headers: headers) { writer in
            let reading = hub.read(after: last)
            defer { reading.end() }
            try await writer.write("retry: 1000\n\n")
            if !reading.first.isEmpty { try await writer.write(reading.first) }
            for await bytes in reading.next { try await writer.write(bytes) }
        }
    }
}
