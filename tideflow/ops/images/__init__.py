"""Images: files, colours, boxes, crops, patches and sizes."""
