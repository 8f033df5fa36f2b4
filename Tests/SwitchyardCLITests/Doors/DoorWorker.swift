import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization

/// One client of many: it sends what it makes up, remembers what it has sent, and uses what the answers bring.
///
/// `@unchecked Sendable`: everything but `sent` belongs to the worker's own thread.
final class DoorWorker: @unchecked Sendable {
    enum Door: Sendable {
        case firebase
        case supabase
        case socket
    }

    let door: Door
    private let port: UInt16
    private let requests: [DoorRequest]
    private var random: SeededGenerator
    private var values: [String: String]
    private var line: DoorSocket?
    /// The systematic part: each request, each of its numbers, each extreme, in an order of the worker's own.
    private let share: [(request: Int, number: Int, extreme: Int)]
    /// What is left of it.
    private var plan: [(request: Int, number: Int, extreme: Int)]
    struct Sent: Sendable {
        var count = 0
        /// How many were answered with which status.
        var answers: [Int: Int] = [:]
        /// The newest last.
        var last: [[UInt8]] = []
    }

    let sent = Mutex(Sent())
    private static let remembered = 12

    init(_ door: Door, port: UInt16, values: [String: String], seed: UInt64, number: Int, of workers: Int) {
        self.door = door
        self.port = port
        self.values = values
        requests = door == .firebase ? DoorRequest.firebase : DoorRequest.supabase
        random = SeededGenerator(seed: seed)
        var everything: [(request: Int, number: Int, extreme: Int)] = []
        for (index, request) in requests.enumerated() where door != .socket {
            for number in request.numbers.indices {
                for extreme in DoorMutation.extremes.indices { everything.append((index, number, extreme)) }
            }
        }
        share = everything.enumerated().filter { $0.offset % workers == number }.map(\.element)
        plan = share.shuffled(using: &random)
        left = plan.count
        self.values["name"] = "w\(number)\(random.int(0..<1000))"
    }

    /// How many of the systematic requests are left; they begin again when all have been sent.
    private(set) var left: Int

    /// Works until the deadline, or until no one listens any more.
    func run(until deadline: ContinuousClock.Instant) {
        greet()
        var turn = 0
        while ContinuousClock.now < deadline {
            turn += 1
            if turn % 200 == 0 { greet() }
            if door == .socket { talk() } else { ask() }
            guard isListening else { return }
        }
    }

    private var isListening = true

    // MARK: Requests

    /// Removes the faults that requests have set, and signs in again.
    private func greet() {
        let names =
            door == .firebase
            ? ["accounts:signUp?key=any\n\n{\"email", "accounts:signInWithPassword"]
            : ["/auth/v1/signup\n", "grant_type=password"]
        exchange(DoorRequest(text: "DELETE /_faults").bytes(values))
        if door != .firebase {
            exchange(
                DoorRequest(
                    text:
                        "POST /_supabase/faults\n\n{\"refuseWebSockets\":false,\"refusalPause\":0,\"fallSilent\":1000000}"
                ).bytes(values))
        }
        for name in names {
            if let request = requests.first(where: { $0.text.contains(name) }) { exchange(request.bytes(values)) }
        }
    }

    private func ask() {
        if plan.isEmpty { plan = share.shuffled(using: &random) }
        if random.chance(50), let next = plan.popLast() {
            left = min(left, plan.count)
            let request = requests[next.request]
            return exchange(
                request.replacing(request.numbers[next.number], by: DoorMutation.extremes[next.extreme]).bytes(values))
        }
        var request = random.pick(requests)
        if random.chance(75) {
            for change in DoorMutation.apply(to: request, &random) {
                request = DoorMutation.change(request, by: change, &random)
            }
        }
        var bytes = request.bytes(values)
        switch random.int(0..<100) {
        case 0..<10: bytes = Damage.apply(to: bytes, &random)
        case 10..<13: bytes = (0..<random.int(1..<600)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        case 13..<16: bytes = chunked(bytes)
        case 16..<18: bytes += bytes  // two requests at once
        case 18..<20: bytes = Array(bytes.prefix(random.int(0..<(bytes.count + 1))))
        default: break
        }
        exchange(bytes)
    }

    /// The same with a body in chunks, whose sizes may be anything.
    private func chunked(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return bytes }
        let size = random.pick([
            "5", "0", "7fffffffffffffff", "ffffffffffffffff", "fffffffffffffff", "-1", "+5", "0x5", "", "5;a=b", "g",
        ])
        let head = text[..<end.lowerBound].split(separator: "\r\n").filter { !$0.hasPrefix("Content-Length") }
        return Array(
            (head.joined(separator: "\r\n")
                + "\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n\(size)\r\nhello\r\n0\r\n\r\n").utf8)
    }

    private func exchange(_ bytes: [UInt8]) {
        if line == nil { line = DoorSocket(port: port) }
        guard let line else { return isListening = false }
        remember(bytes)
        guard let answer = line.exchange(bytes, within: random.chance(3) ? 400 : 60) else {
            self.line = nil
            return
        }
        sent.withLock { $0.answers[answer.status, default: 0] += 1 }
        learn(answer)
        if !answer.isComplete || answer.fields["connection"] == "close" || random.chance(5) { self.line = nil }
    }

    private func remember(_ bytes: [UInt8]) {
        sent.withLock { sent in
            sent.count += 1
            sent.last.append(bytes)
            if sent.last.count > Self.remembered { sent.last.removeFirst() }
        }
    }

    // MARK: Answers

    /// Where the values come from that later requests need, by name of the member; some go by another name here.
    private static let members = [
        "idToken": "idToken", "id_token": "idToken", "refreshToken": "refreshToken", "refresh_token": "refresh",
        "localId": "localId",
        "access_token": "access", "oobCode": "oobCode", "sessionInfo": "sessionInfo", "sessionId": "sessionId",
        "token": "token",
        "temporaryProof": "temporaryProof", "mfaPendingCredential": "mfaPendingCredential",
        "mfaEnrollmentId": "mfaEnrollmentId",
        "nextPageToken": "nextPageToken", "transaction": "transaction", "downloadTokens": "downloadTokens",
        "fid": "fid", "name": "registration",
        "signedURL": "signedURL", "url": "url", "nextCursor": "nextCursor", "hashed_token": "tokenHash", "id": "user",
    ]

    private func learn(_ answer: DoorSocket.Answer) {
        for (field, name) in [("location", "tus"), ("x-goog-upload-url", "upload"), ("x-http-session-id", "gsid")] {
            guard let value = answer.fields[field], value.utf8.count < 4096 else { continue }
            // Only the path of an address.
            let path =
                value.firstRange(of: "://").map { value[$0.upperBound...].drop { $0 != "/" }.description } ?? value
            values[name] = path
            if name == "tus", let state = value.firstRange(of: "state=") {
                values["state"] = String(value[state.upperBound...].prefix { $0 != "&" })
            }
        }
        guard answer.body.count < 64 << 10 else { return }
        if let start = answer.body.firstRange(of: Array(#"["c",""#.utf8)) {
            values["sid"] = String(
                decoding: answer.body[start.upperBound...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        }
        if let json = try? JSON(parsing: answer.body) { learn(json, depth: 0) }
    }

    private func learn(_ json: JSON, depth: Int) {
        guard depth < 4 else { return }
        for element in json.array ?? [] { learn(element, depth: depth + 1) }
        for member in json.object ?? JSONObject() {
            guard let text = member.value.string else {
                learn(member.value, depth: depth + 1)
                continue
            }
            guard let name = Self.members[member.key], text.utf8.count < 8192, !text.isEmpty else { continue }
            values[name == "registration" ? String(name) : name] =
                name == "registration" ? String(text.split(separator: "/").last ?? "") : text
            if name == "user" { (values["factor"], values["challenge"]) = (text, text) }
            if member.key == "token", json["status"] != nil { values["poll"] = text }
        }
    }

    // MARK: Web sockets

    /// One connection to the realtime service, with some messages.
    private func talk() {
        guard let line = DoorSocket(port: port) else { return isListening = false }
        let version = random.pick(["1.0.0", "2.0.0", "1.0.0", "3"])
        let greeting = DoorRequest(
            text: """
                GET /realtime/v1/websocket?vsn=\(version)&apikey={\(random.pick(["anon", "service", "access"]))}
                Upgrade: websocket
                Connection: Upgrade
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==
                """
        ).bytes(values)
        remember(greeting)
        guard line.send(greeting), let answer = line.receive(within: 500), !answer.isEmpty else { return }
        sent.withLock { $0.answers[answer.starts(with: "HTTP/1.1 101".utf8) ? 101 : 0, default: 0] += 1 }
        for _ in 0..<random.int(1..<40) {
            let frame = DoorFrames.frame(values, &random)
            remember(frame)
            guard line.send(frame), line.receive(within: random.chance(10) ? 20 : 1) != nil else { return }
        }
    }
}
