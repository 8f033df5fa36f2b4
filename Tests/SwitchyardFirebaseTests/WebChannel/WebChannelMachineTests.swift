import SwitchyardBytes
import SwitchyardFirestoreFormat
import Testing

@testable import SwitchyardFirebase

@Suite struct WebChannelMachineTests {
    typealias Action = WebChannelMachine.Action

    private func machine() -> WebChannelMachine {
        WebChannelMachine(
            database: "projects/p/databases/(default)", headers: [("Authorization", "Bearer t")], firstRequestID: 100)
    }

    /// A machine whose handshake was answered and whose back channel is open.
    private func openMachine(sticky: String? = nil, keepAlive: Int = 30_000) -> WebChannelMachine {
        var machine = machine()
        _ = machine.handle(.send(Array("{\"first\":1}".utf8)))
        _ = machine.handle(
            .handshakeAnswered(
                status: 200, stickySession: sticky, body: framed(#"[[0,["c","SID=","",8,12,\#(keepAlive)]]]"#)))
        _ = machine.handle(.backChannelOpened(status: 200))
        return machine
    }

    /// The same, after a first word from the server.
    private func warmMachine(sticky: String? = nil) -> WebChannelMachine {
        var machine = openMachine(sticky: sticky)
        _ = machine.handle(.backChannelBytes(framed(#"[[1,["noop"]]]"#)))
        return machine
    }

    /// What a new back channel asks for, if one is opened.
    private func opened(_ actions: [Action]) -> [WebChannelMachine.Parameter]? {
        actions.lazy.compactMap { if case .openBackChannel(let query) = $0 { query } else { nil } }.first
    }

    private func framed(_ text: String) -> [UInt8] { Array("\(text.utf16.count)\n\(text)".utf8) }

    private func value(_ name: String, in query: [WebChannelMachine.Parameter]) -> String? {
        query.first { $0.name == name }?.value
    }

    private func form(_ body: [UInt8]) -> [String: String] {
        let pairs = FormCoding.decode(String(decoding: body, as: UTF8.self)) ?? []
        return Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    @Test func `The first message travels in the handshake, behind the credentials`() throws {
        var machine = machine()
        let actions = machine.handle(.send(Array("{\"a\":\"+ ü\"}".utf8)))
        guard case .handshake(let query, let body) = try #require(actions.first) else {
            Issue.record("no handshake: \(actions)")
            return
        }
        #expect(actions.count == 1)
        #expect(value("VER", in: query) == "8")
        #expect(value("RID", in: query) == "100")
        #expect(value("CVER", in: query) == "22")
        #expect(value("X-HTTP-Session-Id", in: query) == "gsessionid")
        #expect(
            String(decoding: body, as: UTF8.self).hasPrefix("headers=Authorization%3ABearer%20t%0D%0A&count=1&ofs=0"))
        #expect(form(body)["req0___data__"] == "{\"a\":\"+ ü\"}")
    }

    @Test func `Messages sent during the handshake go out together after it, numbered on`() throws {
        var machine = machine()
        _ = machine.handle(.send([UInt8](#"{"m":0}"#.utf8)))
        #expect(machine.handle(.send([UInt8](#"{"m":1}"#.utf8))).isEmpty)
        #expect(machine.handle(.send([UInt8](#"{"m":2}"#.utf8))).isEmpty)
        let actions = machine.handle(
            .handshakeAnswered(status: 200, stickySession: nil, body: framed(#"[[0,["c","S","",8,12,30000]]]"#)))
        guard let back = opened(actions), case .forward(let query, let body)? = actions.last else {
            Issue.record("unexpected: \(actions)")
            return
        }
        #expect(value("AID", in: back) == "0")
        #expect(value("SID", in: back) == "S")
        #expect(value("gsessionid", in: back) == nil)
        #expect(value("RID", in: query) == "101")
        #expect(form(body)["count"] == "2")
        #expect(form(body)["ofs"] == "1")
        #expect(form(body)["req1___data__"] == #"{"m":2}"#)
    }

    @Test func `A session that the server wants to stick is named on every later request`() {
        var machine = warmMachine(sticky: "sticky1")
        let queries = (machine.handle(.send([1])) + machine.handle(.backChannelEnded) + machine.handle(.terminate))
            .compactMap { action -> [WebChannelMachine.Parameter]? in
                switch action {
                case .forward(let query, _), .openBackChannel(let query), .terminate(let query): query
                default: nil
                }
            }
        #expect(queries.map { value("gsessionid", in: $0) } == ["sticky1", "sticky1", "sticky1"])
    }

    @Test func `A POST carries a thousand messages at most`() throws {
        var machine = machine()
        for _ in 0...1500 { _ = machine.handle(.send([UInt8]("{}".utf8))) }
        let first = machine.handle(
            .handshakeAnswered(status: 200, stickySession: nil, body: framed(#"[[0,["c","S","",8,12,30000]]]"#)))
        let second = machine.handle(.forwardAnswered(status: 200, body: framed("[1,0,7]")))
        let forms = (first + second).compactMap { if case .forward(_, let body) = $0 { form(body) } else { nil } }
        #expect(forms.map { $0["count"] } == ["1000", "500"])
        #expect(forms.map { $0["ofs"] } == ["1", "1001"])
    }

    @Test func `A POST whose answer was lost is repeated with the same numbers, and newer messages wait`() {
        var machine = openMachine()
        let first = machine.handle(.send([UInt8]("{}".utf8)))
        #expect(machine.handle(.send([UInt8]("{\"n\":2}".utf8))).isEmpty)
        #expect(machine.handle(.forwardFailed("lost")) == [.schedule(.retryForward, after: .zero)])
        #expect(machine.handle(.timer(.retryForward)) == first)
        let next = machine.handle(.forwardAnswered(status: 200, body: framed("[1,0,7]")))
        guard case .forward(let query, let body)? = next.first else {
            Issue.record("unexpected: \(next)")
            return
        }
        #expect(value("RID", in: query) == "102")
        #expect(form(body)["ofs"] == "2")
    }

    @Test func `A forward channel that keeps failing ends the session`() {
        var machine = openMachine()
        _ = machine.handle(.send([UInt8]("{}".utf8)))
        for _ in 1...WebChannelMachine.maximumRetries {
            #expect(!machine.handle(.forwardFailed("down")).contains(.close(.broken("down"))))
            _ = machine.handle(.timer(.retryForward))
        }
        #expect(machine.handle(.forwardFailed("down")).last == .close(.broken("down")))
        #expect(machine.handle(.send([1])).isEmpty)
    }

    @Test func `Arrays are delivered once and in order, whatever the server sends again`() throws {
        var machine = openMachine()
        let first = machine.handle(.backChannelBytes(framed(#"[[1,[{"a":1}]],[2,["noop"]]]"#)))
        #expect(first.filter(\.isDelivery) == [.deliver(["a": 1])])
        let again = machine.handle(.backChannelBytes(framed(#"[[1,[{"a":1}]],[2,["noop"]],[3,[{"a":3}]]]"#)))
        #expect(again.filter(\.isDelivery) == [.deliver(["a": 3])])
        let reopened = machine.handle(.backChannelEnded)
        #expect(value("AID", in: try #require(opened(reopened))) == "3")
    }

    @Test func `A back channel that ends empty, or inside a frame, is a failure, and three in a row are too many`() {
        var machine = openMachine()
        #expect(machine.handle(.backChannelEnded).contains(.schedule(.retryBackChannel, after: .zero)))
        for _ in 2...WebChannelMachine.maximumRetries {
            _ = machine.handle(.timer(.retryBackChannel))
            _ = machine.handle(.backChannelOpened(status: 200))
            _ = machine.handle(.backChannelBytes([UInt8]("9\n[".utf8)))
            #expect(!machine.handle(.backChannelEnded).contains { $0.isClose })
        }
        _ = machine.handle(.timer(.retryBackChannel))
        #expect(machine.handle(.backChannelFailed("gone")).last == .close(.broken("gone")))
    }

    @Test(arguments: [#"[[1,[{"a":1}]]]"#, "[]"])
    func `Back channels that bring nothing new are opened more and more slowly, and given up in the end`(
        _ frame: String
    ) {
        var machine = warmMachine()
        #expect(opened(machine.handle(.backChannelEnded)) != nil, "this one has brought something")
        for round in 1...WebChannelMachine.maximumRetries {
            _ = machine.handle(.backChannelOpened(status: 200))
            _ = machine.handle(.backChannelBytes(framed(frame)))
            let actions = machine.handle(.backChannelEnded)
            #expect(opened(actions) == nil)
            #expect(actions.contains(.schedule(.retryBackChannel, after: .seconds(round - 1))))
            _ = machine.handle(.timer(.retryBackChannel))
        }
        _ = machine.handle(.backChannelOpened(status: 200))
        _ = machine.handle(.backChannelBytes(framed(frame)))
        #expect(machine.handle(.backChannelEnded).last?.isClose == true)
    }

    @Test func `A back channel that brought arrays is followed by the next at once, however often`() {
        var machine = warmMachine()
        for round in 2...50 {
            #expect(opened(machine.handle(.backChannelEnded)) != nil)
            _ = machine.handle(.backChannelOpened(status: 200))
            _ = machine.handle(.backChannelBytes(framed("[[\(round),[\"noop\"]]]")))
        }
    }

    @Test func `Any new array makes up for failures before it`() {
        var machine = openMachine()
        for round in 1...10 {
            #expect(!machine.handle(.backChannelFailed("cut")).contains { $0.isClose })
            _ = machine.handle(.timer(.retryBackChannel))
            _ = machine.handle(.backChannelOpened(status: 200))
            _ = machine.handle(.backChannelBytes(framed("[[\(round),[\"noop\"]]]")))
        }
    }

    @Test(arguments: [400, 404])
    func `A server that does not know the session ends it without more ado`(_ status: Int) {
        var back = openMachine()
        #expect(back.handle(.backChannelOpened(status: status)).last == .close(.sessionGone))
        var forward = openMachine()
        _ = forward.handle(.send([1]))
        #expect(forward.handle(.forwardAnswered(status: status, body: [])).last == .close(.sessionGone))
    }

    @Test(arguments: [
        #"[[1,[{"error":{"message":"no","status":"PERMISSION_DENIED"}}]]]"#,
        #"[[1,[[{"error":{"message":"no","status":"PERMISSION_DENIED"}}]]]]"#,
    ])
    func `An error of the service ends the session in either nesting`(_ frame: String) {
        var machine = openMachine()
        let actions = machine.handle(.backChannelBytes(framed(frame)))
        #expect(actions.last == .close(.failure(FirestoreFailure(.permissionDenied, "no"))))
        #expect(actions.contains { if case .terminate = $0 { true } else { false } })
    }

    @Test func `An orderly close and a stop are told apart`() {
        var closed = openMachine()
        #expect(closed.handle(.backChannelBytes(framed(#"[[1,["close"]]]"#))).last == .close(.byServer))
        var stopped = openMachine()
        let actions = stopped.handle(.backChannelBytes(framed(#"[[1,["stop"]]]"#)))
        #expect(actions.last == .close(.broken("the server stopped it")))
    }

    @Test(arguments: [204, 401, 500, 503])
    func `Any other answer than success ends the session`(_ status: Int) {
        let broken = Action.close(.broken("the server answered \(status)"))
        var back = openMachine()
        #expect(back.handle(.backChannelOpened(status: status)).last == broken)
        var forward = openMachine()
        _ = forward.handle(.send([1]))
        #expect(forward.handle(.forwardAnswered(status: status, body: [])).last == broken)
    }

    @Test func `A POST that no one answers ends the session at once`() {
        var machine = openMachine()
        _ = machine.handle(.send([1]))
        #expect(machine.handle(.forwardUnanswered).contains { $0.isClose })
    }

    @Test func `A frame without a length loses its back channel, and nothing that was taken in`() throws {
        var machine = warmMachine()
        let actions = machine.handle(.backChannelBytes([UInt8]("x\n[]".utf8)))
        #expect(actions.contains(.cancelBackChannel))
        #expect(!actions.contains { $0.isClose })
        #expect(value("AID", in: try #require(opened(machine.handle(.timer(.retryBackChannel))))) == "1")
    }

    @Test func `The same nonsense again and again ends the session`() {
        var machine = warmMachine()
        var rounds = 0
        while !machine.isClosed, rounds < 100 {
            rounds += 1
            _ = machine.handle(.backChannelBytes(framed("no JSON")))
            _ = machine.handle(.timer(.retryBackChannel))
            _ = machine.handle(.backChannelOpened(status: 200))
        }
        #expect(rounds == WebChannelMachine.maximumRetries + 1)
    }

    @Test func `A failure of an unknown name is one of the server`() {
        var machine = openMachine()
        let frame = framed(#"[[1,[{"error":{"message":null,"status":"X"}}]]]"#)
        guard case .close(.failure(let failure))? = machine.handle(.backChannelBytes(frame)).last else {
            Issue.record("no failure")
            return
        }
        #expect(failure.status == .internal)
    }

    @Test(arguments: [(10_000, Duration.seconds(15)), (30_000, .seconds(45)), (.max, WebChannelMachine.longestSilence)])
    func `A server is taken for dead after one and a half of its pauses`(_ keepAlive: Int, _ limit: Duration) {
        var machine = openMachine(keepAlive: keepAlive)
        let actions = machine.handle(.backChannelBytes(framed(#"[[1,["noop"]]]"#)))
        #expect(actions.contains(.schedule(.silence, after: limit)))
    }

    @Test func `A back channel without an answer is reopened, and in the end the session is given up`() {
        var machine = warmMachine()
        #expect(opened(machine.handle(.timer(.silence))) != nil)
        for round in 1...WebChannelMachine.maximumRetries {
            let actions = machine.handle(.timer(.silence))
            #expect(actions.first == .cancelBackChannel)
            #expect(actions.last == .schedule(.retryBackChannel, after: .seconds(round - 1)))
            let again = machine.handle(.timer(.retryBackChannel))
            #expect(again.contains(.schedule(.silence, after: .seconds(45))))
        }
        #expect(machine.handle(.timer(.silence)).last == .close(.broken("a back channel without an answer")))
    }

    @Test(arguments: [false, true])
    func `Where nothing arrives before an answer is complete, each answer ends with its first word`(
        _ hasHead: Bool
    ) throws {
        var machine = machine()
        _ = machine.handle(.send([1]))
        let actions = machine.handle(
            .handshakeAnswered(status: 200, stickySession: nil, body: framed(#"[[0,["c","S","",8,12,30000]]]"#)))
        #expect(value("CI", in: try #require(opened(actions))) == "0")
        #expect(actions.contains(.schedule(.silence, after: WebChannelMachine.firstWordLimit)))
        if hasHead { _ = machine.handle(.backChannelOpened(status: 200)) }
        let polling = machine.handle(.timer(.silence))
        #expect(polling.first == .cancelBackChannel)
        #expect(value("CI", in: try #require(opened(polling))) == "1")
        _ = machine.handle(.backChannelOpened(status: 200))
        _ = machine.handle(.backChannelBytes(framed(#"[[1,["noop"]]]"#)))
        let next = machine.handle(.backChannelEnded)
        #expect(value("CI", in: try #require(opened(next))) == "1")
        // Then nothing may happen for long, and that is no failure.
        for _ in 1...10 { #expect(opened(machine.handle(.timer(.silence))) != nil) }
    }

    @Test func `A server that sees no back channel gets a new one, unless ours is young`() {
        var young = warmMachine()
        _ = young.handle(.send([1]))
        _ = young.handle(.timer(.settling))
        #expect(opened(young.handle(.forwardAnswered(status: 200, body: framed("[0,0,0]")))) == nil)
        var old = warmMachine()
        _ = old.handle(.timer(.settling))
        _ = old.handle(.send([1]))
        let actions = old.handle(.forwardAnswered(status: 200, body: framed("[0,0,0]")))
        #expect(actions.first == .cancelBackChannel)
        #expect(opened(actions) != nil)
    }

    @Test func `Silence reopens the back channel and is no failure`() {
        var machine = warmMachine()
        for _ in 1...10 {
            let actions = machine.handle(.timer(.silence))
            #expect(actions.first == .cancelBackChannel)
            #expect(!actions.contains { $0.isClose })
            _ = machine.handle(.backChannelOpened(status: 200))
        }
    }

    @Test func `A server that says it sent more than arrived is asked again after a while`() {
        var machine = openMachine()
        _ = machine.handle(.send([1]))
        let actions = machine.handle(.forwardAnswered(status: 200, body: framed("[1,19,7]")))
        #expect(actions.contains(.schedule(.overdue, after: .seconds(6))))
        let late = machine.handle(.timer(.overdue))
        #expect(opened(late) != nil)
    }

    @Test func `A handshake that is refused says why`() {
        var machine = machine()
        _ = machine.handle(.send([1]))
        let body = Array(#"{"error":{"code":401,"message":"who are you","status":"UNAUTHENTICATED"}}"#.utf8)
        let actions = machine.handle(.handshakeAnswered(status: 401, stickySession: nil, body: body))
        #expect(actions.last == .close(.failure(FirestoreFailure(.unauthenticated, "who are you"))))
        #expect(!actions.contains { if case .terminate = $0 { true } else { false } })
    }

    @Test func `Nothing follows the end`() {
        var machine = openMachine()
        #expect(machine.handle(.terminate).last == .close(.byClient))
        for event in [WebChannelMachine.Event.send([1]), .backChannelEnded, .timer(.silence), .terminate] {
            #expect(machine.handle(event).isEmpty)
        }
    }
}

extension WebChannelMachine.Action {
    fileprivate var isDelivery: Bool { if case .deliver = self { true } else { false } }
    fileprivate var isClose: Bool { if case .close = self { true } else { false } }
}
