import SwitchyardWire

/// Marks the page's own requests, so that they do not stand among those of the apps.
struct MarkedTransport: ChangingTransport {
    static let field = "X-Switchyard-Page"

    let base: any Transport
    let mark: String

    func changed(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        headers[Self.field] = mark
        return headers
    }
}
