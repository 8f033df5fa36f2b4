import SwitchyardWire

/// A program that makes one request for each address it is given, and prints what came of it: for tests that need a process
/// with an environment of its own, and for `.ci/size`, which measures it.
@main
enum OneRequest {
    static func main() async {
        #if os(Linux)
            let transport = CurlTransport()
            for address in CommandLine.arguments.dropFirst() { print(await outcome(of: address, over: transport)) }
            // Ready to make a request, and asked for none: what a start costs.
            if CommandLine.arguments.count < 2 { print("ready") }
            await transport.shutDown()
        #else
            print("there is libcurl on Linux only")
        #endif
    }

    private static func outcome(of address: String, over transport: some Transport) async -> String {
        do throws(TransportError) {
            let response = try await transport.send(HTTPRequest(.get, address))
            return "\(response.status) \(String(decoding: response.body.prefix(40), as: UTF8.self))"
        } catch {
            return "\(error.code)"
        }
    }
}
