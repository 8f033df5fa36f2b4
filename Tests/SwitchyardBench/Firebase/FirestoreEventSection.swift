#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardFirebase
    import SwitchyardTestSupport
    import SwitchyardWire

    /// The time from the start of another client's write to the event of a live query, compared with a bare reader of the same
    /// channel.
    struct FirestoreEventSection: BenchSection {
        let name = "firestore-events"

        func run(_ bench: Bench) async throws {
            let site = try await FirestoreBenchSite.start()
            defer { site.stop() }
            let transport = CurlTransport()
            let path: StoragePath = "events/one"
            try await write(site, path, 0, by: transport)

            let client = try await site.client()
            let ours = Arrivals()
            let listener = Task {
                for try await snapshot in client.snapshots(of: Query(in: path.collection)) {
                    if case .integer(let number)? = snapshot.documents.first?["number"] { ours.note(Int(number)) }
                }
            }
            let bare = Arrivals()
            let reader = Task { try await read(site, bare) }
            try await ours.wait(for: 0)
            try await bare.wait(for: 0)

            let count = bench.settings.count(400, quick: 20)
            var times: (ours: [Double], bare: [Double]) = ([], [])
            for number in 1...count {
                let start = ContinuousClock.now
                try await write(site, path, number, by: transport)
                let (mine, theirs) = (try await ours.wait(for: number), try await bare.wait(for: number))
                guard number > count / 5 else { continue }
                times.ours.append((mine - start).inSeconds)
                times.bare.append((theirs - start).inSeconds)
            }
            listener.cancel()
            reader.cancel()
            await client.shutDown()
            await transport.shutDown()
            let (mine, theirs) = (Statistics.median(times.ours) * 1e3, Statistics.median(times.bare) * 1e3)
            await bench.report("event after write, bare reader, median", theirs, "ms")
            await bench.report("event after write, switchyard, median", mine, "ms")
            await bench.report(
                "event after write, switchyard, p95", Statistics.percentile(times.ours, 0.95) * 1e3, "ms")
            await bench.report("event after write, later than the bare reader", mine - theirs, "ms", .atMost(1))
        }

        private func write(
            _ site: FirestoreBenchSite, _ path: StoragePath, _ number: Int, by transport: CurlTransport
        ) async throws {
            var request = HTTPRequest(.post, site.url("commit"), body: site.setBody([path], number))
            request.headers["Content-Type"] = "application/json"
            guard try await transport.send(request).isSuccess else { throw BenchFailure("a write was refused") }
        }

        /// One handshake and one GET, parsed only for numbers and consistent snapshots.
        private func read(_ site: FirestoreBenchSite, _ arrivals: Arrivals) async throws {
            let transport = CurlTransport()
            let database = PercentCoding.encode(site.database)
            let channel = "\(site.origin)/google.firestore.v1.Firestore/Listen/channel?VER=8&database=\(database)"
            let target: JSON = [
                "database": .string(site.database),
                "addTarget": [
                    "targetId": 2,
                    "query": [
                        "parent": .string("\(site.database)/documents"),
                        "structuredQuery": ["from": [["collectionId": "events"]]],
                    ],
                ],
            ]
            let form = "headers=&count=1&ofs=0&req0___data__=\(PercentCoding.encode(target.text()))"
            var handshake = HTTPRequest(.post, channel + "&RID=1&CVER=22&t=1", body: Array(form.utf8))
            handshake.headers["Content-Type"] = "application/x-www-form-urlencoded"
            handshake.usesFreshConnection = true
            let answer = String(decoding: try await transport.send(handshake).body, as: UTF8.self)
            let session = answer.split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
            var get = HTTPRequest(
                .get, channel + "&SID=\(PercentCoding.encode(session))&RID=rpc&AID=0&CI=0&TYPE=xmlhttp&t=1")
            get.usesFreshConnection = true
            get.idleLimit = nil
            get.decompresses = false
            var numbers = BareNumberReader()
            for try await bytes in try await transport.stream(get).body {
                if let number = numbers.take(bytes) { arrivals.note(number) }
            }
        }
    }
#endif
