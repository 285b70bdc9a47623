/**
 * A certificate for files.example and public.example that signs itself. Made for these tests: nothing else trusts
 * it, and its key protects nothing.
 */
export const CERT = `-----BEGIN CERTIFICATE-----
MIIBgTCCASegAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9UcnVua2xp
bmUgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBoxGDAW
BgNVBAMMD1RydW5rbGluZSB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BAtzD+gKzKQRV++iNb+rHEH/Xvq3bv+eRT7ANQXbH1qrGS5locSsJLaRSi6+1q05
1Jc5/CStwyoSmollVtam0vejXDBaMCgGA1UdEQQhMB+CDWZpbGVzLmV4YW1wbGWC
DnB1YmxpYy5leGFtcGxlMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFMmcgmPj
Za/y/vcS7HmiAGhBcIpYMAoGCCqGSM49BAMCA0gAMEUCIQDKlEjTU88bdZ/MtpCa
QKUxJ//hjDfxG1AER80jPMiaxQIgUuzP7NPoBRkboVYfDknqAbTxJWcosMwFCGkH
wlfqX1k=
-----END CERTIFICATE-----`

export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrEJb2KXsYZN/dSYj
zLxoAJxVOobQWxDje7S5A2f87E2hRANCAAQLcw/oCsykEVfvojW/qxxB/176t27/
nkU+wDUF2x9aqxkuZaHErCS2kUouvtatOdSXOfwkrcMqEpqJZVbWptL3
-----END PRIVATE KEY-----`

/** Made with the same key for files.example; it ended in 2020. */
export const EXPIRED = `-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIBAjAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9UcnVua2xp
bmUgdGVzdHMwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAaMRgwFgYD
VQQDDA9UcnVua2xpbmUgdGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQL
cw/oCsykEVfvojW/qxxB/176t27/nkU+wDUF2x9aqxkuZaHErCS2kUouvtatOdSX
OfwkrcMqEpqJZVbWptL3o0wwSjAYBgNVHREEETAPgg1maWxlcy5leGFtcGxlMA8G
A1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFMmcgmPjZa/y/vcS7HmiAGhBcIpYMAoG
CCqGSM49BAMCA0kAMEYCIQDSr+MLYY7G03TKfP+tPFY250V6j/60zSK1tAKCqnQa
wQIhAMkhJ2zqhsJWuxGWLg/SqXmPuilZanCgcFziiaEMMSja
-----END CERTIFICATE-----`
