import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// The trace that a request belongs to: what is one, and which calls belong to it.
@Suite struct TraceContextTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `A context is what its fields say, and writes them as they came`() throws {
        let trace = try #require(
            TraceContext(traceparent: Self.parent, tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"))
        #expect(trace.traceID == "0af7651916cd43dd8448eb211c80319c" && trace.parentID == "b7ad6b7169203331")
        #expect(trace.isSampled && trace.flags == 1)
        #expect(trace.traceparent == Self.parent && "\(trace)" == Self.parent)
        #expect(trace.tracestate == "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
        let other = try #require(TraceContext(traceparent: String(Self.parent.dropLast(2)) + "fe"))
        #expect(!other.isSampled && other.traceparent.hasSuffix("-fe") && other.tracestate == nil)
    }

    @Test(arguments: [
        nil, "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333g-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nX: 1",
    ])
    func `A field that is not valid is no context`(_ text: String?) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test func `A later version is read as the first, without the flags that only it knows`() throws {
        let trace = try #require(
            TraceContext(traceparent: "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0b-what-the-future-is-like")
        )
        #expect(trace.traceparent == Self.parent)
    }

    @Test(
        arguments: [
            ("a=1", "a=1"), (" a=1 ,\tb=2 ", "a=1,b=2"), ("a=1,,b=2,", "a=1,b=2"),
            ("fw529a3039@dt=FfAAA~&/ x", "fw529a3039@dt=FfAAA~&/ x"),
            ("0_-*/=1", "0_-*/=1"), ("", nil), (" , ", nil), ("a", nil), ("a=", nil), ("=1", nil), ("A=1", nil),
            ("a=1=2", nil),
            ("a=ä", nil), ("a=1\r\nX: 1", nil), ("a=1,b", nil), (String(repeating: "k", count: 257) + "=1", nil),
            ("a=" + String(repeating: "v", count: 257), nil),
            ((1...33).map { "k\($0)=1" }.joined(separator: ","), nil),
        ] as [(String, String?)])
    func `What tracing systems add is passed on if all of it is valid`(_ text: String, _ kept: String?) throws {
        let trace = try #require(TraceContext(traceparent: Self.parent, tracestate: text))
        #expect(trace.tracestate == kept)
    }

    private final class Events: InfrastructureObserver {
        private let traces = Mutex<[TraceContext?]>([])
        var all: [TraceContext?] { traces.withLock { $0 } }
        func observe(_ event: InfrastructureEvent) { traces.withLock { $0.append(event.trace) } }
    }

    @Test func `The events of a request's calls have its trace, and those after it have none`() async throws {
        let events = Events()
        let storage = MockStorageClient().with(CallPolicy(.storage, { .mock }, observer: events))
        let trace = try #require(TraceContext(traceparent: Self.parent))
        let inner = try #require(TraceContext(traceparent: String(Self.parent.dropLast(2)) + "00"))
        try await withRequest(trace: trace) {
            try await storage.setDocument("notes/a", ["n": 1])
            try await withRequest(id: "7f3a") { _ = try await storage.document("notes/a") }
            try await withRequest(trace: inner) { _ = try await storage.document("notes/a") }
        }
        _ = try await storage.document("notes/a")
        #expect(events.all == [trace, trace, inner, nil])
    }

    @Test func `Work that goes on after its request has no trace`() async throws {
        let gate = Gate()
        let trace = try #require(TraceContext(traceparent: Self.parent))
        let later = await withRequest(trace: trace) {
            #expect(ServedRequest.current?.trace == trace)
            return Task {
                await gate.wait()
                return ServedRequest.current?.trace
            }
        }
        gate.open()
        #expect(await later.value == nil)
    }
}
