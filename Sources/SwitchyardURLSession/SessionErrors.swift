import Foundation
import SwitchyardWire

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts Foundation's errors; the only place that reads its codes.
enum SessionErrors {
    static func error(_ error: any Error, isIdempotent: Bool) -> TransportError {
        guard let known = error as? URLError else {
            return TransportError(.unknown, "the exchange failed", mayHaveBeenSent: true, underlying: error)
        }
        let row = row(known.code, known.failingURL?.absoluteString)
        return TransportError(
            row.code, row.message, isRetryable: row.isPassing && (isIdempotent || !row.wasSent),
            mayHaveBeenSent: row.wasSent, underlying: error)
    }

    static func ofSocket(_ error: any Error) -> TransportError {
        error as? TransportError ?? self.error(error, isIdempotent: false)
    }

    private static func row(
        _ code: URLError.Code, _ url: String?
    ) -> (code: TransportError.Code, message: String, isPassing: Bool, wasSent: Bool) {
        switch code {
        case .cancelled: (.cancelled, "the exchange was cancelled", false, true)
        case .cannotFindHost, .dnsLookupFailed: (.hostNotFound, UnreachableHost.notFound(url), true, false)
        case .cannotConnectToHost, .notConnectedToInternet:
            (.cannotConnect, UnreachableHost.notConnected(url), true, false)
        case .timedOut: (.stalled, "no data arrived for too long", true, true)
        case .networkConnectionLost: (.connectionLost, "the connection broke", true, true)
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            (
                .untrustedPeer,
                "the certificate is not trusted, or not valid at the time that this device's clock shows", false, false
            )
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
            (.tlsFailed, "the TLS handshake failed", false, false)
        case .cannotDecodeContentData, .cannotDecodeRawData:
            (.badContentCoding, "the body cannot be decompressed", false, true)
        case .badServerResponse, .zeroByteResource, .cannotParseResponse:
            (.badResponse, "the answer is not HTTP", false, true)
        case .badURL, .unsupportedURL: (.invalidRequest, "the address cannot be used", false, false)
        default: (.unknown, "Foundation reports error \(code.rawValue)", false, true)
        }
    }
}
