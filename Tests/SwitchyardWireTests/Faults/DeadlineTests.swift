import Glibc
import SwitchyardTestSupport
import Testing

@testable import SwitchyardWire

@Suite struct DeadlineTests {
    @Test(arguments: [HTTPMethod.get, .post]) func `An answer that does not come in time is not waited for`(
        method: HTTPMethod
    ) async throws {
        let server = try FaultServer { connection in
            _ = connection.readRequest()
            connection.drain()
        }
        let transport = CurlTransport()
        let error = try await failure {
            try await transport.send(HTTPRequest(method, server.url), within: .milliseconds(100))
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.mayHaveBeenSent)
        #expect(error.isRetryable == (method == .get))
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }

    @Test func `An exchange that creeps is ended too, and another goes on`() async throws {
        let server = try FaultServer { connection in
            guard let head = connection.readHead() else { return }
            if head.hasPrefix("GET /whole") {
                connection.write(answer("x"))
                return
            }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while connection.write("x") { usleep(5_000) }
        }
        let transport = CurlTransport()
        let error = try await failure {
            async let late = transport.send(HTTPRequest(.get, server.url), within: .milliseconds(200))
            let whole = try await transport.send(HTTPRequest(.get, server.url + "/whole"), within: .seconds(60))
            #expect(whole.body == Array("x".utf8))
            _ = try await late
        }
        #expect(error.code == .deadlineExceeded)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }

    @Test func `Who waits for a place is given up without having been sent`() async throws {
        let server = try FaultServer { connection in
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") }
        }
        var configuration = CurlConfiguration()
        configuration.maximumExchangesPerOrigin = 1
        let transport = CurlTransport(configuration)
        let stream = try await transport.stream(HTTPRequest(.get, server.url))
        let error = try await failure {
            try await transport.send(HTTPRequest(.post, server.url), within: .milliseconds(100))
        }
        #expect(error.code == .deadlineExceeded)
        #expect(!error.mayHaveBeenSent && error.isRetryable)
        stream.body.cancel()
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
        #expect(server.acceptedCount == 1)
    }

    @Test func `A chain of redirects has the time of one call`() async throws {
        let server = try FaultServer { connection in
            while connection.readHead() != nil {
                usleep(40_000)
                connection.write("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let transport = CurlTransport()
        var request = HTTPRequest(.get, server.url)
        request.redirects = .follow(limit: 1000)
        let start = ContinuousClock.now
        let error = try await failure { try await transport.send(request, within: .milliseconds(300)) }
        #expect(error.code == .deadlineExceeded)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `A call that was cancelled is cancelled, not late`() async throws {
        let arrived = Counter()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            arrived.add(1)
            connection.drain()
        }
        let transport = CurlTransport()
        let call = Task { try await transport.send(HTTPRequest(.get, server.url), within: .seconds(60)) }
        try await eventually("the request has arrived") { arrived.value == 1 }
        call.cancel()
        #expect(try await failure { try await call.value }.code == .cancelled)
    }

    @Test func `A deadline is met by a loop that is never idle`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.drain()
        }
        let transport = CurlTransport()
        let busy = Task(executorPreference: transport.executor) {
            while !Task.isCancelled { await Task.yield() }
        }
        let error = try await failure {
            try await withDeadline(.seconds(60)) { () throws(TransportError) in
                try await transport.send(HTTPRequest(.get, server.url), within: .milliseconds(100))
            }
        }
        #expect(error.code == .deadlineExceeded)
        var request = HTTPRequest(.get, server.url)
        request.idleLimit = .seconds(1)
        let idle = request
        let stalled = try await failure {
            try await withDeadline(.seconds(60)) { () throws(TransportError) in try await transport.send(idle) }
        }
        #expect(stalled.code == .stalled)
        busy.cancel()
        await busy.value
        await transport.shutDown()
    }

    @Test func `What the loop's thread did before a request does not count for it`() async throws {
        let server = try FaultServer { connection in
            while let head = connection.readHead() {
                if head.hasPrefix("POST") { usleep(200_000) }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
            }
        }
        let transport = CurlTransport()
        // A pooled connection, on which the next request is written in the turn in which it starts.
        #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 200)
        let isBusy = Counter()
        let busy = Task(executorPreference: transport.executor) {
            isBusy.add(1)
            // Longer than the limit: the one thing here that only time can show.
            usleep(1_300_000)
        }
        try await eventually("the thread is busy") { isBusy.value == 1 }
        var request = HTTPRequest(.post, server.url)
        request.idleLimit = .seconds(1)
        #expect(try await transport.send(request).status == 200)
        await busy.value
        await transport.shutDown()
    }

    @Test func `A transfer whose answers were read late gets the time again, once`() {
        let start = ContinuousClock.now
        var watch = IdleWatch(limit: .seconds(8), minimumSpeed: 1, now: start)
        func isStalled(after seconds: Int) -> Bool { watch.isStalled(at: start + .seconds(seconds)) }
        #expect(!isStalled(after: 7))
        #expect(!isStalled(after: 12), "four seconds late")
        #expect(watch.deadline == start + .seconds(16))
        #expect(isStalled(after: 30))
        watch.moved(8)
        #expect(!isStalled(after: 30))
        #expect(!isStalled(after: 60), "late again, after it has moved")
        watch = IdleWatch(limit: .seconds(8), minimumSpeed: 1, now: start)
        #expect(isStalled(after: 8), "checked in time")
    }

    @Test func `The time before a transport's first request does not count for it`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            usleep(200_000)
            connection.write(answer("x"))
        }
        // Longer than the limit: the one thing here that only time can show.
        try await Task.sleep(for: .milliseconds(1200))
        var request = HTTPRequest(.get, server.url)
        request.idleLimit = .seconds(1)
        #expect(try await transport.send(request).status == 200)
    }
}
