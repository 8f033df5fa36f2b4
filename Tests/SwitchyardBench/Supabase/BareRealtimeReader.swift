#if os(Linux)
    import Foundation
    import SwitchyardBytes
    import SwitchyardWire

    /// One web socket and one channel, parsed only for the numbers in written rows.
    struct BareRealtimeReader: Sendable {
        let site: SupabaseBenchSite
        let schema: String
        let table: String

        /// Reads on a separate thread until `count` different numbers have arrived.
        ///
        /// - Parameter ready: Called once row changes are reported.
        func read(
            _ count: Int, into arrivals: Arrivals, ready: @escaping @Sendable () -> Void
        ) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try follow(count, arrivals, ready) })
                }
            }
        }

        private func follow(_ count: Int, _ arrivals: Arrivals, _ ready: () -> Void) throws {
            let socket = try BlockingWebSocket(
                site.url, path: "/realtime/v1/websocket?vsn=1.0.0&apikey=\(PercentCoding.encode(site.key))")
            let join: JSON = [
                "topic": "realtime:bench", "event": "phx_join", "ref": "1", "join_ref": "1",
                "payload": [
                    "config": [
                        "broadcast": [:], "presence": [:], "private": false,
                        "postgres_changes": [["event": "*", "schema": .string(schema), "table": .string(table)]],
                    ], "access_token": .string(site.key),
                ],
            ]
            try socket.send(.text(join.text()))
            var rest = ""
            var isReady = false
            while true {
                rest += String(decoding: try socket.receive(), as: UTF8.self)
                if !isReady, rest.contains("Subscribed to PostgreSQL") {
                    isReady = true
                    ready()
                }
                var tail = rest[...]
                while let mark = tail.firstRange(of: "\"number\":") {
                    let digits = tail[mark.upperBound...].prefix { $0.isNumber }
                    // The rest of the number arrives with the next bytes.
                    guard digits.endIndex < tail.endIndex else { break }
                    tail = tail[digits.endIndex...]
                    if let number = Int(digits) { arrivals.note(number) }
                    if arrivals.count == count { return }
                }
                rest = String(tail.suffix(4096))
            }
        }
    }
#endif
