import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify, imageType, isShown, sniff } from './file-kind.js'
import { imageSize } from './image-size.js'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const box = (major: string, ...others: string[]) =>
  bytes(`\0\0\0${String.fromCharCode(16 + 4 * others.length)}ftyp${major}\0\0\0\0${others.join('')}`)

describe('sniff', () => {
  it.each<[string, Buffer, string]>([
    ['JPEG', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), 'jpg image/jpeg'],
    ['PNG', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'png image/png'],
    ['GIF 87', bytes('GIF87a\x01\0\x01\0'), 'gif image/gif'],
    ['GIF 89', bytes('GIF89a\x01\0\x01\0'), 'gif image/gif'],
    ['WebP', bytes('RIFF\x10\0\0\0WEBPVP8 '), 'webp image/webp'],
    ['HEIC', box('heic', 'mif1', 'heic'), 'heic image/heic'],
    ['HEIC under its general name', box('mif1', 'mif1', 'heic'), 'heic image/heic'],
    ['a HEIC sequence', box('hevc', 'msf1'), 'heic image/heic'],
    ['HEIF', box('mif1', 'miaf'), 'heif image/heif'],
    ['AVIF', box('avif', 'mif1'), 'avif image/avif'],
    ['TIFF', bytes('II*\0\x08'), 'tiff image/tiff'],
    ['MP4', box('isom', 'mp41'), 'mp4 video/mp4'],
    ['QuickTime', box('qt  '), 'mov video/quicktime'],
    ['3GPP', box('3gp4'), '3gp video/3gpp'],
    ['M4A', box('M4A ', 'mp42'), 'm4a audio/mp4'],
    ['a voice note', bytes('caff\0\x01'), 'caf audio/x-caf'],
    ['AMR', bytes('#!AMR\n'), 'amr audio/amr'],
    ['MP3 with a tag', bytes('ID3\x04\0'), 'mp3 audio/mpeg'],
    ['MP3', bytes('\xff\xfb\x90\x64'), 'mp3 audio/mpeg'],
    ['AAC', bytes('\xff\xf1\x50\x80'), 'aac audio/aac'],
    ['WAV', bytes('RIFF\x24\0\0\0WAVEfmt '), 'wav audio/wav'],
    ['AVI', bytes('RIFF\x24\0\0\0AVI LIST'), 'avi video/x-msvideo'],
    ['Ogg', bytes('OggS\0\x02'), 'ogg audio/ogg'],
    ['FLAC', bytes('fLaC\0'), 'flac audio/flac'],
    ['WebM', bytes('\x1a\x45\xdf\xa3\x01B\x82\x84webm'), 'webm video/webm'],
    ['Matroska', bytes('\x1a\x45\xdf\xa3\x01B\x82\x88matroska'), 'mkv video/x-matroska'],
    ['PDF', bytes('%PDF-1.7\n'), 'pdf application/pdf'],
    ['a contact card', bytes('BEGIN:VCARD\r\nVERSION:3.0'), 'vcf text/vcard'],
    ['a contact card behind a byte order mark', bytes('\xef\xbb\xbfBEGIN:VCARD\nVERSION'), 'vcf text/vcard'],
    ['a calendar', bytes('BEGIN:VCALENDAR\r\n'), 'ics text/calendar'],
  ])('knows %s', (_name, start, expected) => {
    const kind = sniff(start)
    expect(`${kind?.extension} ${kind?.type}`).toBe(expected)
    expect(imageType(start)).toBe(
      expected.includes('image/') && !expected.startsWith('tiff') ? expected.split(' ')[1] : undefined,
    )
  })

  it.each([
    '',
    '\xff\xd8',
    '\x89PNG',
    'GIF88a',
    'RIFF\x10\0\0\0ABCD',
    'ftypheic',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<?xml version="1.0"?><svg/>',
    '<!doctype html><script>1</script>',
    'hello',
    'xGIF89a',
    'BEGIN:VCARDS',
  ])('says nothing of %j', (text) => {
    expect(sniff(bytes(text))).toBeUndefined()
    expect(imageType(bytes(text))).toBeUndefined()
  })

  it('never throws, on a part of a larger buffer either', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (data) => {
        const kind = sniff(data.subarray(3))
        const type = imageType(data)
        if (type) imageSize(data, type)
        expect(kind === undefined || kind.extension.length > 0).toBe(true)
      }),
    )
  })
})

describe('classify', () => {
  const png = bytes('\x89PNG\r\n\x1a\n')
  const text = bytes('nothing special')
  it.each<[Buffer, string, string, string]>([
    [png, 'image/jpeg', 'a.gif', 'png'],
    [text, 'image/jpeg', 'a.gif', 'jpg'],
    [text, 'IMAGE/JPEG; q=1', '', 'jpg'],
    [text, 'application/octet-stream', 'a.GIF', 'gif'],
    [text, '', 'archive.tar.gz', 'gz'],
    [text, 'text/plain', 'voice.caf', 'caf'],
    [text, 'text/plain', '', 'txt'],
    [text, 'text/html', 'page.html', 'html'],
    [text, 'text/html', '', 'bin'],
    [text, '', '', 'bin'],
    [text, '', '.hidden', 'bin'],
    [text, '', 'a.b/c', 'bin'],
    [text, '', '../../x.jpg/../', 'bin'],
    [text, '', 'a.p%00ng', 'bin'],
    [text, '', `a.${'x'.repeat(9)}`, 'bin'],
    [text, 'text/x-vcard', 'x', 'vcf'],
    [text, 'constructor', 'a.constructor', 'bin'],
  ])('of %s, %j, %j', (start, declared, name, extension) => {
    expect(classify(start, declared, name).extension).toBe(extension)
  })

  it('gives no type to what a browser could run', () => {
    for (const name of ['a.html', 'a.svg', 'a.js', 'a.xml', 'a.xhtml', 'a.swf', 'a.toString'])
      expect(classify(text, '', name).type).toBe('application/octet-stream')
    expect(classify(text, 'image/svg+xml', 'a.svg').type).toBe('application/octet-stream')
    expect(isShown('image/png')).toBe(true)
    expect(isShown('application/pdf')).toBe(false)
    expect(isShown('text/plain; charset=utf-8')).toBe(false)
  })
})

describe('imageSize', () => {
  const uint16 = (n: number) => String.fromCharCode(n >> 8, n & 255)
  const uint32 = (n: number) => uint16(n >>> 16) + uint16(n & 0xffff)
  const little = (n: number, length: number) =>
    Array.from({ length }, (_, i) => String.fromCharCode((n >>> (8 * i)) & 255)).join('')
  it.each<[string, Buffer]>([
    ['image/png', bytes(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${uint32(640)}${uint32(480)}`)],
    ['image/gif', bytes(`GIF89a${little(640, 2)}${little(480, 2)}`)],
    [
      'image/jpeg',
      bytes(
        `\xff\xd8\xff\xe0${uint16(4)}xx\xff\xff\xc4${uint16(3)}x\xff\xc2${uint16(17)}\x08${uint16(480)}${uint16(640)}`,
      ),
    ],
    ['image/webp', bytes(`RIFF\0\0\0\0WEBPVP8 ${'x'.repeat(10)}${little(640, 2)}${little(480, 2)}`)],
    ['image/webp', bytes(`RIFF\0\0\0\0WEBPVP8L\0\0\0\0/${little(639 | (479 << 14), 4)}`)],
    ['image/webp', bytes(`RIFF\0\0\0\0WEBPVP8X${'\0'.repeat(8)}${little(639, 3)}${little(479, 3)}`)],
    [
      'image/heic',
      bytes(
        `${box('heic').toString('latin1')}ispe\0\0\0\0${uint32(512)}${uint32(512)}ispe\0\0\0\0${uint32(640)}${uint32(480)}`,
      ),
    ],
  ])('reads %s', (type, data) => {
    const size = imageSize(data, type as 'image/png')!
    expect(size).toEqual({ width: 640, height: 480 })
    for (let length = 0; length < data.length; length++)
      imageSize(data.subarray(0, length), type as 'image/png')
  })

  it('does not take what is broken', () => {
    expect(imageSize(bytes('\x89PNG\r\n\x1a\n'), 'image/png')).toBeUndefined()
    expect(imageSize(bytes(`\xff\xd8\xff\xda${'x'.repeat(20)}`), 'image/jpeg')).toBeUndefined()
    expect(imageSize(bytes('\xff\xd8\xff\xe0\xff\xff'), 'image/jpeg')).toBeUndefined()
    expect(imageSize(bytes('GIF89a\0\0\0\0'), 'image/gif')).toBeUndefined()
  })
})
